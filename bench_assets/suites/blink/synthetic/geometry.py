"""Mini edition, exact geometry: warped planes, turned objects, photographs, animals, tools."""

import json
import pickle
from functools import partial
from math import cos, radians, sin
from random import Random

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from bench_assets.core.images.drawing import Point
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
_FOCAL = 420.0  # px, focal length of the camera
_CAMERA_DISTANCE = 5.0  # distance of the camera from the middle of the box, in half sides
_TOYS = ("camera", "laptop", "mug")


def planes(rng: Random, n: int) -> dict[str, bytes]:
    """Write HPatches sequences: a textured plane seen by three cameras in three lights.

    One extra sequence, a wall without corners, must be rejected.
    """
    files: dict[str, bytes] = {}
    to_first = np.array([[1.0, 0, -120], [0, 1, -90], [0, 0, 1]])  # the middle of the plane
    for index in range(n + 1):
        is_wall = index == n
        name = "i_wall" if is_wall else f"v_plane{index:02}"
        plane = mosaic(rng, 640, 480, 120)
        if is_wall:
            plane = np.full_like(plane, 190)
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
    for index in range(n + 2):
        category = "bottle" if index == n else _TOYS[index % len(_TOYS)]
        step = 0.5 if index == n + 1 else rng.uniform(8, 11)  # degrees between frames
        files |= _video(rng, category, f"{index:04}", step)
    return files


def photographs(rng: Random, n: int) -> dict[str, bytes]:
    """Draw photographs to cut into jigsaws; one extra, blank, must be rejected."""
    files = {f"photo{index:02}.jpg": as_jpeg(_photograph(rng)) for index in range(n)}
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
    matrix = cv2.getPerspectiveTransform(_as_float32(corners), _as_float32(moved))
    return np.asarray(matrix, np.float64)


def _change_light(rng: Random, view: Pixels) -> Pixels:
    gain, bias = rng.uniform(0.7, 1.2), rng.uniform(-20, 20)
    return levels(view * gain + bias)


def _as_float32(points: ArrayLike) -> NDArray[np.float32]:
    return np.asarray(points, np.float32)


def _video(rng: Random, category: str, name: str, step: float) -> dict[str, bytes]:
    """Write four frames with their poses; the camera moves by ``step`` degrees between them."""
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
    """Return rotation and translation of the object for a camera at these angles in degrees."""
    a, e = radians(azimuth), radians(elevation)
    camera = _CAMERA_DISTANCE * np.array([sin(a) * cos(e), sin(e), cos(a) * cos(e)])
    forward = -camera / _CAMERA_DISTANCE
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
    """Return the corners of a square with sides of 2 * half, at a distance of 1 from the origin."""
    out = np.array(normal, np.float64)
    along = np.array([0.0, 0, 1]) if normal[1] else np.array([0.0, 1, 0])
    across = np.cross(along, out)
    offsets = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return np.array([out + half * (u * across + v * along) for u, v in offsets])


def _paste(
    image: Pixels, face: Pixels, corners: Matrix, rotation: Matrix, translation: Matrix
) -> None:
    """Draw a face onto the image, as the camera sees the square with these corners."""
    camera_points = corners @ rotation.T + translation
    image_points = camera_points[:, :2] / camera_points[:, 2:] * _FOCAL + np.array(_SIZE) / 2
    height, width = face.shape[:2]
    face_corners = _as_float32([(0, height), (width, height), (width, 0), (0, 0)])
    matrix = cv2.getPerspectiveTransform(face_corners, _as_float32(image_points))
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
    for index in range(n + 1):
        category = _ANIMALS[index % len(_ANIMALS)]
        n_points = 3 if index == n else 6
        source, target = f"2008_{2 * index:06}", f"2008_{2 * index + 1:06}"
        source_image, source_points = _animal(rng)
        target_image, target_points = _animal(rng)
        files[f"JPEGImages/{category}/{source}.jpg"] = as_jpeg(source_image)
        files[f"JPEGImages/{category}/{target}.jpg"] = as_jpeg(target_image)
        pair = {
            "src_imname": f"{source}.jpg",
            "trg_imname": f"{target}.jpg",
            "category": category,
            "src_kps": source_points[:n_points],
            "trg_kps": target_points[:n_points],
        }
        file = f"PairAnnotation/test/{index:06}-{source}-{target}:{category}.json"
        files[file] = (json.dumps(pair) + "\n").encode()
    return files


def tools(rng: Random, n: int) -> dict[str, bytes]:
    """Write FunKPoint entries for n pairs: five points of a tool, in the order of their functions.

    They are the end of the handle, its middle, the joint, the far side of the working end, and the
    tip of a hook on one side, which distinguishes a tool from its mirror image.
    """
    files: dict[str, bytes] = {}
    entries = []
    for action, end_shapes in _TOOLS.items():
        for index in range(n):
            name = sorted(end_shapes)[index % 2]
            image, points = _tool(rng, end_shapes[name])
            path = f"images/{action.split()[0]}_{index:02}.jpg"
            files[path] = as_jpeg(image)
            entries.append({"image": path, "object": name, "action": action, "points": points})
    return files | {"annotations.json": (json.dumps(entries) + "\n").encode()}


def _animal(rng: Random) -> tuple[Pixels, list[tuple[int, int]]]:
    """Draw an animal; points: its nose, ear, back, tip of the tail, fore foot and hind foot."""
    length, thickness = rng.uniform(60, 85), rng.uniform(28, 42)  # px, halves of the trunk
    leg, neck = rng.uniform(45, 70), rng.uniform(25, 45)
    head_x, head_y = length + neck * 0.6, -neck - 10
    keypoints = np.array(
        [
            (head_x + 34, head_y + 8),
            (head_x - 6, head_y - 32),
            (0, -thickness),
            (-length - rng.uniform(30, 50), -rng.uniform(0, 50)),
            (length * 0.7 + rng.uniform(-12, 12), thickness * 0.5 + leg),
            (-length * 0.7 + rng.uniform(-12, 12), thickness * 0.5 + leg),
        ]
    )
    joints = np.array(
        [(head_x, head_y), (0, 0), (-length, 0), (length * 0.7, 0), (-length * 0.7, 0)]
    )
    angle, mirrored = rng.uniform(-15, 15), rng.random() < 0.5
    transform = partial(
        _transform_points, angle=angle, mirrored=mirrored, origin=(200, 150), scale=0.95
    )
    nose, ear, back, tail_tip, fore_foot, hind_foot = map(_to_pixel, transform(keypoints))
    head, middle, tail, shoulder, hip = map(_to_pixel, transform(joints))
    image, colour = _canvas(rng)
    cv2.line(image, tail, tail_tip, colour, 8, cv2.LINE_AA)
    cv2.line(image, shoulder, fore_foot, colour, 13, cv2.LINE_AA)
    cv2.line(image, hip, hind_foot, colour, 13, cv2.LINE_AA)
    cv2.line(image, head, ear, colour, 12, cv2.LINE_AA)
    cv2.line(image, head, nose, colour, 14, cv2.LINE_AA)
    lean = -angle if mirrored else angle
    axes = (round(length * 0.95), round(thickness * 0.95))
    cv2.ellipse(image, middle, axes, lean, 0, 360, colour, -1, cv2.LINE_AA)
    cv2.line(image, middle, head, colour, 26, cv2.LINE_AA)
    cv2.circle(image, head, 20, colour, -1, cv2.LINE_AA)
    return image, [nose, ear, back, tail_tip, fore_foot, hind_foot]


def _tool(rng: Random, end_shape: str) -> tuple[Pixels, list[tuple[int, int]]]:
    """Draw a handle that ends in a block, a bowl or an oval; return its five points too."""
    handle, size = rng.uniform(90, 130), rng.uniform(34, 48)  # px
    hook_tip = (size, 1.8 * size)
    keypoints = np.array([(-handle, 0), (-handle / 2, 0), (0, 0), (1.5 * size, 0), hook_tip])
    hook = np.array([(0.6 * size, 0), (1.4 * size, 0), hook_tip])
    angle, mirrored = rng.uniform(-60, 60), rng.random() < 0.5
    transform = partial(_transform_points, angle=angle, mirrored=mirrored, origin=(215, 150))
    points = [_to_pixel(point) for point in transform(keypoints)]
    handle_end, _, joint, _, _ = points
    image, colour = _canvas(rng)
    dark = tuple(channel * 0.6 for channel in colour)
    cv2.line(image, handle_end, joint, dark, rng.randint(10, 18), cv2.LINE_AA)
    cv2.fillConvexPoly(image, np.round(transform(hook)).astype(np.int32), dark, cv2.LINE_AA)
    if end_shape == "block":
        corners = np.array([(0, -size), (2 * size * 0.8, -size), (2 * size * 0.8, size), (0, size)])
        block = np.round(transform(corners)).astype(np.int32)
        cv2.fillConvexPoly(image, block, colour, cv2.LINE_AA)
    else:
        [middle] = transform(np.array([(size, 0)]))
        axes = (round(size), round(size * (1.0 if end_shape == "oval" else 1.25)))
        lean = 180 - angle if mirrored else angle
        cv2.ellipse(image, _to_pixel(middle), axes, lean, 0, 360, colour, -1, cv2.LINE_AA)
    return image, points


def _transform_points(
    points: _Points, *, angle: float, mirrored: bool, origin: Point, scale: float = 1.0
) -> _Points:
    """Scale points, turn them clockwise by degrees, mirror them, and move them to an origin."""
    theta = radians(angle)
    matrix = np.array([[cos(theta), -sin(theta)], [sin(theta), cos(theta)]])
    transformed: _Points = points @ matrix.T * scale
    if mirrored:
        transformed = transformed * (-1, 1)
    return transformed + origin


def _canvas(rng: Random) -> tuple[Pixels, tuple[int, int, int]]:
    """Draw a light backdrop and choose a dark colour that stands out from it."""
    light = 120 + 0.5 * noise(rng, *_SIZE, finest=16).astype(np.float32)
    colour = (rng.randint(10, 110), rng.randint(10, 110), rng.randint(10, 110))
    return np.ascontiguousarray(light.clip(0, 255).astype(np.uint8)), colour


def _to_pixel(point: NDArray[np.float64]) -> tuple[int, int]:
    return round(float(point[0])), round(float(point[1]))
