"""Mini raw material with exact geometry: warped planes, a turned object, photographs to cut."""

import pickle
from math import cos, radians, sin
from random import Random

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from bench_assets.suites.blink.synthetic.surfaces import (
    Pixels,
    as_file,
    as_jpeg,
    levels,
    mosaic,
    noise,
)

Matrix = NDArray[np.float64]

_SIZE = (400, 300)  # px
_FOCAL = 420.0  # px
_TOYS = ("camera", "laptop", "mug")


def planes(rng: Random, n: int) -> dict[str, bytes]:
    """Write HPatches sequences: a textured plane seen by three cameras in three lights.

    One more sequence is a wall without a corner to find.
    """
    files: dict[str, bytes] = {}
    for nth in range(n + 1):
        name = f"v_plane{nth:02}" if nth < n else "i_wall"
        plane = mosaic(rng, 640, 480, 120)
        if nth == n:
            plane = np.full_like(plane, 190)
        to_first = np.array([[1.0, 0, -120], [0, 1, -90], [0, 0, 1]])
        for number in (1, 2, 3):
            to_view = to_first if number == 1 else _tilted(rng) @ to_first
            view = cv2.warpPerspective(plane, to_view, _SIZE, flags=cv2.INTER_AREA)
            files[f"{name}/{number}.ppm"] = as_file(_relit(rng, levels(view)), "PPM")
            if number > 1:
                rows = to_view @ np.linalg.inv(to_first)
                text = "\n".join(" ".join(f"{cell:.8g}" for cell in row) for row in rows)
                files[f"{name}/H_1_{number}"] = f"{text}\n".encode()
    return files


def turned_objects(rng: Random, n: int) -> dict[str, bytes]:
    """Write Wild6D videos of a box on a table that the camera goes around.

    One more shows a bottle, whose pose does not tell the turn; another is filmed standing still.
    """
    files: dict[str, bytes] = {}
    for nth in range(n + 2):
        category = "bottle" if nth == n else _TOYS[nth % len(_TOYS)]
        step = 0.5 if nth == n + 1 else rng.uniform(8, 11)  # degrees between frames
        files |= _video(rng, category, f"{nth:04}", step)
    return files


def photographs(rng: Random, n: int) -> dict[str, bytes]:
    """Draw images whose pieces continue each other; one more is blank."""
    files = {f"photo{nth:02}.jpg": as_jpeg(_photograph(rng)) for nth in range(n)}
    blank = np.full((_SIZE[1], _SIZE[0], 3), 210, np.uint8)
    return files | {"blank.jpg": as_jpeg(blank)}


def _photograph(rng: Random) -> Pixels:
    """Cut an image out of a larger one, so that its middle is no busier than its corners."""
    width, height = _SIZE
    larger = mosaic(rng, width + 120, height + 120, 45)
    return levels(cv2.GaussianBlur(larger[60:-60, 60:-60], (0, 0), 1.0))


def _tilted(rng: Random) -> Matrix:
    """A homography that moves the corners of the image by up to a tenth of it."""
    width, height = _SIZE
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    moved = [(x + rng.uniform(-40, 40), y + rng.uniform(-30, 30)) for x, y in corners]
    matrix = cv2.getPerspectiveTransform(_corners(corners), _corners(moved))
    return np.asarray(matrix, np.float64)


def _relit(rng: Random, view: Pixels) -> Pixels:
    gain, bias = rng.uniform(0.7, 1.2), rng.uniform(-20, 20)
    return levels(view * gain + bias)


def _corners(places: ArrayLike) -> NDArray[np.float32]:
    return np.asarray(places, np.float32)


def _video(rng: Random, category: str, name: str, step: float) -> dict[str, bytes]:
    sides = [mosaic(rng, 160, 160, 40) for _ in range(5)]
    table, wall = mosaic(rng, 400, 400, 60), noise(rng, *_SIZE, finest=4)
    start, height = rng.uniform(0, 360), rng.uniform(20, 35)
    files: dict[str, bytes] = {}
    annotations = []
    for frame in range(4):
        rotation, translation = _pose(start + frame * step, height + rng.uniform(-1, 1))
        image = _shown(sides, table, wall, rotation, translation)
        files[f"test_set/{category}/{name}/1/images/{frame:05}.jpg"] = as_jpeg(image)
        annotations.append(
            {
                "name": f"{category}/{name}/1/{frame:05}",
                "rotation": rotation,
                "translation": translation,
            }
        )
    poses = pickle.dumps({"annotations": annotations, "num_frames": 4}, protocol=4)
    return files | {f"test_set/pkl_annotations/{category}/{category}-{name}-1.pkl": poses}


def _pose(azimuth: float, elevation: float) -> tuple[Matrix, Matrix]:
    """Pose of the object for a camera that looks at it from there, 5 units away; degrees."""
    a, e = radians(azimuth), radians(elevation)
    camera = 5.0 * np.array([sin(a) * cos(e), sin(e), cos(a) * cos(e)])
    forward = -camera / 5.0
    right = np.array([cos(a), 0.0, -sin(a)])
    rotation = np.stack([right, np.cross(forward, right), forward])
    return rotation, -rotation @ camera


def _shown(
    sides: list[Pixels], table: Pixels, wall: Pixels, rotation: Matrix, translation: Matrix
) -> Pixels:
    """Render the table, then the faces of the box that are turned to the camera."""
    image = wall.copy()
    _paste(image, table, _square((0, -1, 0), 3.5, 1.0), rotation, translation)
    camera = -rotation.T @ translation
    normals = ((1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1), (0, 1, 0))
    for normal, side in zip(normals, sides, strict=True):
        if np.dot(normal, camera) > 1.0:
            _paste(image, side, _square(normal, 1.0, 1.0), rotation, translation)
    return image


def _square(normal: tuple[int, int, int], half: float, distance: float) -> Matrix:
    """Corners of a square at a distance from the origin."""
    out = np.array(normal, np.float64)
    along = np.array([0.0, 0, 1]) if normal[1] else np.array([0.0, 1, 0])
    across = np.cross(along, out)
    offsets = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return np.array([out * distance + half * (u * across + v * along) for u, v in offsets])


def _paste(
    image: Pixels, face: Pixels, corners: Matrix, rotation: Matrix, translation: Matrix
) -> None:
    seen = corners @ rotation.T + translation
    places = seen[:, :2] / seen[:, 2:] * _FOCAL + np.array(_SIZE) / 2
    height, width = face.shape[:2]
    flat = _corners([(0, height), (width, height), (width, 0), (0, 0)])
    matrix = cv2.getPerspectiveTransform(flat, _corners(places))
    warped = cv2.warpPerspective(face, matrix, _SIZE, flags=cv2.INTER_AREA)
    mask = cv2.warpPerspective(np.full((height, width), 255, np.uint8), matrix, _SIZE)
    cv2.copyTo(warped, (mask > 127).astype(np.uint8), image)
