"""Mini raw material about parts: animals of one kind, and tools of one use, part for part."""

import json
from math import cos, radians, sin
from random import Random

import cv2
import numpy as np
from numpy.typing import NDArray

from bench_assets.suites.blink.synthetic.surfaces import Pixels, as_jpeg, noise

_SIZE = (400, 300)  # px
_ANIMALS = ("cat", "dog", "horse", "sheep")
_TOOLS = {  # action: tools, and the shape of their working end
    "Mash Pound": {"hammer": "block", "pot": "bowl"},
    "Scoop": {"spoon": "oval", "shovel": "bowl"},
}

_Points = NDArray[np.float64]  # n, (x, y) px


def animals(rng: Random, n: int) -> dict[str, bytes]:
    """Write SPair-71k pairs: two animals of a kind, in other shapes, colours and poses.

    In one more pair only three points are common.
    """
    files: dict[str, bytes] = {}
    for nth in range(n + 1):
        category = _ANIMALS[nth % len(_ANIMALS)]
        names = [f"2008_{2 * nth + which:06}.jpg" for which in (0, 1)]
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
    tip of a hook on one side of it, by which a tool can be told from its mirror image.
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
    places, bones = (_posed(p, angle, mirrored, (200, 150), 0.95) for p in (parts, joints))
    image, colour = _canvas(rng)
    for joint, part, width in ((2, 3, 8), (3, 4, 13), (4, 5, 13), (0, 1, 12), (0, 0, 14)):
        cv2.line(image, _px(bones[joint]), _px(places[part]), colour, width, cv2.LINE_AA)
    lean = -angle if mirrored else angle
    axes = (round(long * 0.95), round(thick * 0.95))
    cv2.ellipse(image, _px(bones[1]), axes, lean, 0, 360, colour, -1, cv2.LINE_AA)
    cv2.line(image, _px(bones[1]), _px(bones[0]), colour, 26, cv2.LINE_AA)
    cv2.circle(image, _px(bones[0]), 20, colour, -1, cv2.LINE_AA)
    return image, [list(_px(place)) for place in places]


def _tool(rng: Random, end: str) -> tuple[Pixels, list[list[int]]]:
    """Draw a handle that ends in a block, a bowl or an oval."""
    handle, size = rng.uniform(90, 130), rng.uniform(34, 48)
    hook = np.array([(0.6 * size, 0), (1.4 * size, 0), (size, 1.8 * size)])
    parts = np.array([(-handle, 0), (-handle / 2, 0), (0, 0), (1.5 * size, 0), hook[2]])
    angle, mirrored = rng.uniform(-60, 60), rng.random() < 0.5
    places = _posed(parts, angle, mirrored, (215, 150), 1.0)
    middle = _posed(np.array([(size, 0)]), angle, mirrored, (215, 150), 1.0)[0]
    image, colour = _canvas(rng)
    dark = tuple(channel * 0.6 for channel in colour)
    cv2.line(image, _px(places[0]), _px(places[2]), dark, rng.randint(10, 18), cv2.LINE_AA)
    spike = np.round(_posed(hook, angle, mirrored, (215, 150), 1.0)).astype(np.int32)
    cv2.fillConvexPoly(image, spike, dark, cv2.LINE_AA)
    lean = 180 - angle if mirrored else angle
    if end == "block":
        corners = np.array([(0, -size), (2 * size * 0.8, -size), (2 * size * 0.8, size), (0, size)])
        shape = np.round(_posed(corners, angle, mirrored, (215, 150), 1.0)).astype(np.int32)
        cv2.fillConvexPoly(image, shape, colour, cv2.LINE_AA)
    else:
        axes = (round(size), round(size * (1.0 if end == "oval" else 1.25)))
        cv2.ellipse(image, _px(middle), axes, lean, 0, 360, colour, -1, cv2.LINE_AA)
    return image, [list(_px(place)) for place in places]


def _posed(
    points: _Points, angle: float, mirrored: bool, at: tuple[float, float], scale: float
) -> _Points:
    """Turn points clockwise by degrees, mirror them, and put their origin somewhere."""
    turned = radians(angle)
    matrix = np.array([[cos(turned), -sin(turned)], [sin(turned), cos(turned)]])
    placed: _Points = points @ matrix.T * scale
    if mirrored:
        placed = placed * (-1, 1)
    return placed + at


def _canvas(rng: Random) -> tuple[Pixels, tuple[int, int, int]]:
    """A light backdrop, and a colour that stands out from it."""
    light = 120 + 0.5 * noise(rng, *_SIZE, finest=16).astype(np.float32)
    colour = (rng.randint(10, 110), rng.randint(10, 110), rng.randint(10, 110))
    return np.ascontiguousarray(light.clip(0, 255).astype(np.uint8)), colour


def _px(point: _Points) -> tuple[int, int]:
    return round(float(point[0])), round(float(point[1]))
