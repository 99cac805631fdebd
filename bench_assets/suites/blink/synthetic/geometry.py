"""Mini edition, exact geometry: warped planes, turned objects, photographs, animals, tools."""

import json
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

    One extra sequence, a wall without corners, must be rejected.
    """
    files: dict[str, bytes] = {}
    for nth in range(n + 1):
        name = f"v_plane{nth:02}" if nth < n else "i_wall"
        plane = mosaic(rng, 640, 480, 120)
        if nth == n:
            plane = np.full_like(plane, 190)
        to_first = np.array([[1.0, 0, -120], [0, 1, -90], [0, 0, 1]])
        for number in (1, 2, 3):
            to_view = to_first if number == 1 else _random_homography(rng) @ to_first
            view = cv2.warpPerspective(plane, to_view, _SIZE, flags=cv2.INTER_AREA)
            files[f"{name}/{number}.ppm"] = as_file(_change_light(rng, levels(view)), "PPM")
            if number > 1:
                rows = to_view @ np.linalg.inv(to_first)
                text = "\n".join(" ".join(f"{cell:.8g}" for cell in row) for row in rows)
                files[f"{name}/H_1_{number}"] = f"{text}\n".encode()
    return files


def turned_objects(rng: Random, n: int) -> dict[str, bytes]:
    """Write Wild6D videos of a box on a table that the camera goes around.

    Two extra videos must be rejected: of a bottle, whose pose does not determine the turn, and of a
    camera that hardly moves.
    """
    files: dict[str, bytes] = {}
    for nth in range(n + 2):
        category = "bottle" if nth == n else _TOYS[nth % len(_TOYS)]
        step = 0.5 if nth == n + 1 else rng.uniform(8, 11)  # degrees between frames
        files |= _video(rng, category, f"{nth:04}", step)
    return files


def photographs(rng: Random, n: int) -> dict[str, bytes]:
    """Draw photographs to cut into jigsaws; one extra, blank, must be rejected."""
    files = {f"photo{nth:02}.jpg": as_jpeg(_photograph(rng)) for nth in range(n)}
    blank = np.full((_SIZE[1], _SIZE[0], 3), 210, np.uint8)
    return files | {"blank.jpg": as_jpeg(blank)}


def _photograph(rng: Random) -> Pixels:
    """Cut an image out of a larger one, so that its middle is no busier than its corners."""
    width, height = _SIZE
    larger = mosaic(rng, width + 120, height + 120, 45)
    return levels(cv2.GaussianBlur(larger[60:-60, 60:-60], (0, 0), 1.0))


def _random_homography(rng: Random) -> Matrix:
    """Draw a homography that moves the image's corners by up to a tenth of its size."""
    width, height = _SIZE
    corners = [(0, 0), (width, 0), (width, height), (0, height)]
    moved = [(x + rng.uniform(-40, 40), y + rng.uniform(-30, 30)) for x, y in corners]
    matrix = cv2.getPerspectiveTransform(_corners(corners), _corners(moved))
    return np.asarray(matrix, np.float64)


def _change_light(rng: Random, view: Pixels) -> Pixels:
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
        image = _render_box(sides, table, wall, rotation, translation)
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
    """Rotation and translation of the object for a camera 5 units away; angles in degrees."""
    a, e = radians(azimuth), radians(elevation)
    camera = 5.0 * np.array([sin(a) * cos(e), sin(e), cos(a) * cos(e)])
    forward = -camera / 5.0
    right = np.array([cos(a), 0.0, -sin(a)])
    rotation = np.stack([right, np.cross(forward, right), forward])
    return rotation, -rotation @ camera


def _render_box(
    sides: list[Pixels], table: Pixels, wall: Pixels, rotation: Matrix, translation: Matrix
) -> Pixels:
    """Render the table, then the faces of the box that are turned to the camera."""
    image = wall.copy()
    _paste(image, table, _square((0, -1, 0), 3.5), rotation, translation)
    camera = -rotation.T @ translation
    normals = ((1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1), (0, 1, 0))
    for normal, side in zip(normals, sides, strict=True):
        if np.dot(normal, camera) > 1.0:
            _paste(image, side, _square(normal, 1.0), rotation, translation)
    return image


def _square(normal: tuple[int, int, int], half: float) -> Matrix:
    """Corners of a square at a distance of 1 from the origin."""
    out = np.array(normal, np.float64)
    along = np.array([0.0, 0, 1]) if normal[1] else np.array([0.0, 1, 0])
    across = np.cross(along, out)
    offsets = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return np.array([out + half * (u * across + v * along) for u, v in offsets])


def _paste(
    image: Pixels, face: Pixels, corners: Matrix, rotation: Matrix, translation: Matrix
) -> None:
    camera_points = corners @ rotation.T + translation
    places = camera_points[:, :2] / camera_points[:, 2:] * _FOCAL + np.array(_SIZE) / 2
    height, width = face.shape[:2]
    flat = _corners([(0, height), (width, height), (width, 0), (0, 0)])
    matrix = cv2.getPerspectiveTransform(flat, _corners(places))
    warped = cv2.warpPerspective(face, matrix, _SIZE, flags=cv2.INTER_AREA)
    mask = cv2.warpPerspective(np.full((height, width), 255, np.uint8), matrix, _SIZE)
    cv2.copyTo(warped, (mask > 127).astype(np.uint8), image)


_ANIMALS = ("cat", "dog", "horse", "sheep")
_TOOLS = {  # action: tools, and the shape of their working end
    "Mash Pound": {"hammer": "block", "pot": "bowl"},
    "Scoop": {"spoon": "oval", "shovel": "bowl"},
}

_Points = NDArray[np.float64]  # n, (x, y) px


def animals(rng: Random, n: int) -> dict[str, bytes]:
    """Write SPair-71k pairs: two animals of a kind, in other shapes, colours and poses.

    One extra pair, with only three common points, must be rejected.
    """
    files: dict[str, bytes] = {}
    for nth in range(n + 1):
        category = _ANIMALS[nth % len(_ANIMALS)]
        names = [f"2008_{2 * nth + index:06}.jpg" for index in (0, 1)]
        points = []
        for name in names:
            image, places = _animal(rng)
            files[f"JPEGImages/{category}/{name}"] = as_jpeg(image)
            points.append(places[:3] if nth == n else places)
        pair = {
            "src_imname": names[0],
            "trg_imname": names[1],
            "category": category,
            "src_kps": points[0],
            "trg_kps": points[1],
        }
        file = f"PairAnnotation/test/{nth:06}-{names[0][:-4]}-{names[1][:-4]}:{category}.json"
        files[file] = (json.dumps(pair) + "\n").encode()
    return files


def tools(rng: Random, n: int) -> dict[str, bytes]:
    """Write FunKPoint entries for n pairs: five points of a tool, in the order of their functions.

    They are the end of the handle, its middle, the joint, the far side of the working end, and the
    tip of a hook on one side, which distinguishes a tool from its mirror image.
    """
    files: dict[str, bytes] = {}
    entries = []
    for action, kinds in _TOOLS.items():
        for nth in range(n):
            kind = sorted(kinds)[nth % 2]
            image, places = _tool(rng, kinds[kind])
            path = f"images/{action.split()[0]}_{nth:02}.jpg"
            files[path] = as_jpeg(image)
            entries.append({"image": path, "object": kind, "action": action, "points": places})
    return files | {"annotations.json": (json.dumps(entries) + "\n").encode()}


def _animal(rng: Random) -> tuple[Pixels, list[list[int]]]:
    """Draw an animal; points: its nose, ear, back, tip of the tail, fore foot and hind foot."""
    long, thick = rng.uniform(60, 85), rng.uniform(28, 42)
    leg, neck = rng.uniform(45, 70), rng.uniform(25, 45)
    head = np.array([long + neck * 0.6, -neck - 10])
    parts = np.array(
        [
            (head[0] + 34, head[1] + 8),
            (head[0] - 6, head[1] - 32),
            (0, -thick),
            (-long - rng.uniform(30, 50), -rng.uniform(0, 50)),
            (long * 0.7 + rng.uniform(-12, 12), thick * 0.5 + leg),
            (-long * 0.7 + rng.uniform(-12, 12), thick * 0.5 + leg),
        ]
    )
    joints = np.array([head, (0, 0), (-long, 0), (long * 0.7, 0), (-long * 0.7, 0)])
    angle, mirrored = rng.uniform(-15, 15), rng.random() < 0.5
    places, bones = (
        _transform_points(p, angle, mirrored, (200, 150), 0.95) for p in (parts, joints)
    )
    image, colour = _canvas(rng)
    for joint, part, width in ((2, 3, 8), (3, 4, 13), (4, 5, 13), (0, 1, 12), (0, 0, 14)):
        cv2.line(image, _px(bones[joint]), _px(places[part]), colour, width, cv2.LINE_AA)
    lean = -angle if mirrored else angle
    axes = (round(long * 0.95), round(thick * 0.95))
    cv2.ellipse(image, _px(bones[1]), axes, lean, 0, 360, colour, -1, cv2.LINE_AA)
    cv2.line(image, _px(bones[1]), _px(bones[0]), colour, 26, cv2.LINE_AA)
    cv2.circle(image, _px(bones[0]), 20, colour, -1, cv2.LINE_AA)
    return image, [list(_px(point)) for point in places]


def _tool(rng: Random, end: str) -> tuple[Pixels, list[list[int]]]:
    """Draw a handle that ends in a block, a bowl or an oval."""
    handle, size = rng.uniform(90, 130), rng.uniform(34, 48)
    hook = np.array([(0.6 * size, 0), (1.4 * size, 0), (size, 1.8 * size)])
    parts = np.array([(-handle, 0), (-handle / 2, 0), (0, 0), (1.5 * size, 0), hook[2]])
    angle, mirrored = rng.uniform(-60, 60), rng.random() < 0.5
    places = _transform_points(parts, angle, mirrored, (215, 150), 1.0)
    middle = _transform_points(np.array([(size, 0)]), angle, mirrored, (215, 150), 1.0)[0]
    image, colour = _canvas(rng)
    dark = tuple(channel * 0.6 for channel in colour)
    cv2.line(image, _px(places[0]), _px(places[2]), dark, rng.randint(10, 18), cv2.LINE_AA)
    spike = np.round(_transform_points(hook, angle, mirrored, (215, 150), 1.0)).astype(np.int32)
    cv2.fillConvexPoly(image, spike, dark, cv2.LINE_AA)
    lean = 180 - angle if mirrored else angle
    if end == "block":
        corners = np.array([(0, -size), (2 * size * 0.8, -size), (2 * size * 0.8, size), (0, size)])
        shape = np.round(_transform_points(corners, angle, mirrored, (215, 150), 1.0)).astype(
            np.int32
        )
        cv2.fillConvexPoly(image, shape, colour, cv2.LINE_AA)
    else:
        axes = (round(size), round(size * (1.0 if end == "oval" else 1.25)))
        cv2.ellipse(image, _px(middle), axes, lean, 0, 360, colour, -1, cv2.LINE_AA)
    return image, [list(_px(point)) for point in places]


def _transform_points(
    points: _Points, angle: float, mirrored: bool, at: tuple[float, float], scale: float
) -> _Points:
    """Scale points, turn them clockwise by degrees, mirror them, and move the origin to ``at``."""
    turned = radians(angle)
    matrix = np.array([[cos(turned), -sin(turned)], [sin(turned), cos(turned)]])
    placed: _Points = points @ matrix.T * scale
    if mirrored:
        placed = placed * (-1, 1)
    return placed + at


def _canvas(rng: Random) -> tuple[Pixels, tuple[int, int, int]]:
    """A light backdrop, and a dark colour that stands out from it."""
    light = 120 + 0.5 * noise(rng, *_SIZE, finest=16).astype(np.float32)
    colour = (rng.randint(10, 110), rng.randint(10, 110), rng.randint(10, 110))
    return np.ascontiguousarray(light.clip(0, 255).astype(np.uint8)), colour


def _px(point: _Points) -> tuple[int, int]:
    return round(float(point[0])), round(float(point[1]))
