"""Specialists by classic computer vision, one for each of four tasks (section 4.3).

Each takes the images of a question and gives the letter of an option, or None.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import dist
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from bench_assets.core.images.drawing import Point
from bench_assets.suites.blink.specialists.circle_detection import (
    Pixels,
    find_circles,
    find_lettered,
)

_HOMOGRAPHY_MATCHES = 10  # matches that must agree on a homography
_MOTION_MATCHES = 12  # matches that must agree on the motion
_FOCAL = 1.1  # focal length of a phone's camera, as a share of the image's longer side
_BLACK = 24  # levels of 255: JPEG leaves a mask not quite black
_STEPS = 160  # along a path
_LEAST_EDGE = 0.09  # change of the logarithm in one step that light does not make
_MARKED = 0.06  # of the height: how far a circle and its label reach
_ALIKE = 0.25  # change of the logarithm below which two surfaces are about the same
Places = NDArray[np.float32]  # n, (x, y) px
_HEIGHT = 600  # px that images are matched at, small ones enlarged
_RATIO = 0.8  # of the best match's distance to the second best, at most (Lowe, 2004)


class Matches(NamedTuple):
    """Points that look the same, the n-th of one image and the n-th of the other."""

    first: Places
    second: Places


def match_features(first: Pixels, second: Pixels) -> Matches:
    """SIFT matches that are distinct: alike, and like nothing else in the other image."""
    sift = cv2.SIFT.create(nfeatures=1200)
    (one, one_scale), (other, other_scale) = _grey(first), _grey(second)
    keys, descriptors = sift.detectAndCompute(one, None)
    other_keys, other_descriptors = sift.detectAndCompute(other, None)
    if len(keys) < 2 or len(other_keys) < 2:
        return Matches(np.empty((0, 2), np.float32), np.empty((0, 2), np.float32))
    pairs = cv2.BFMatcher().knnMatch(descriptors, other_descriptors, k=2)
    good = [best for best, second in pairs if best.distance < _RATIO * second.distance]
    return Matches(
        np.array([keys[m.queryIdx].pt for m in good], np.float32).reshape(-1, 2) * one_scale,
        np.array([other_keys[m.trainIdx].pt for m in good], np.float32).reshape(-1, 2)
        * other_scale,
    )


def _grey(image: Pixels) -> tuple[Pixels, float]:
    """A grey copy of one height, and how many px of the image one of its px is."""
    scale = image.shape[0] / _HEIGHT
    size = (round(image.shape[1] / scale), _HEIGHT)
    smoothing = cv2.INTER_AREA if scale > 1 else cv2.INTER_LINEAR
    sized = cv2.resize(image, size, interpolation=smoothing)
    return np.asarray(cv2.cvtColor(sized, cv2.COLOR_RGB2GRAY), np.uint8), scale


def visual_correspondence(images: Sequence[Pixels]) -> str | None:
    """The lettered point nearest to the reference point, carried over by a homography of matches.

    Args:
        images: The one with REF, and the one with A to D.
    """
    first, second = images
    reference = find_circles(first, 1, "red")
    points = find_lettered(second, "ABCD", "red")
    if reference is None or points is None:
        return None
    matches = match_features(first, second)
    if len(matches.first) < _HOMOGRAPHY_MATCHES:
        return None
    homography, inliers = cv2.findHomography(matches.first, matches.second, cv2.RANSAC, 4.0)
    if homography is None or int(inliers.sum()) < _HOMOGRAPHY_MATCHES:
        return None
    x, y, w = homography @ np.array([*reference[0], 1.0])
    return min(points, key=lambda letter: dist(points[letter], (x / w, y / w)))


def multi_view_reasoning(images: Sequence[Pixels]) -> str | None:
    """A if the camera went left between two frames, B if right, by the essential matrix.

    Args:
        images: The first frame and the last.
    """
    first, second = images
    matches = match_features(first, second)
    if len(matches.first) < _MOTION_MATCHES:
        return None
    height, width = first.shape[:2]
    focal = _FOCAL * max(height, width)
    camera = np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]])
    essential, inliers = cv2.findEssentialMat(
        matches.first, matches.second, camera, method=cv2.USAC_MAGSAC, prob=0.999, threshold=0.5
    )
    if essential is None or essential.shape != (3, 3) or int(inliers.sum()) < _MOTION_MATCHES:
        return None
    _, rotation, translation, _ = cv2.recoverPose(
        essential, matches.first, matches.second, camera, mask=inliers
    )
    moved_right = float((-rotation.T @ translation)[0, 0])
    return "B" if moved_right > 0 else "A"


def jigsaw(images: Sequence[Pixels]) -> str | None:
    """A if the second image continues the edges around the hole in the first better, else B.

    Args:
        images: The one whose lower right corner is black, and the two pieces.
    """
    corner, *pieces = images
    hole = _hole(corner)
    if hole is None:
        return None
    gaps = [_gap(corner, hole, piece) for piece in pieces]
    return "AB"[int(np.argmin(gaps))]


def _hole(corner: Pixels) -> tuple[int, int] | None:
    """Column and row where the black corner begins."""
    black = corner.max(axis=2) <= _BLACK
    height, width = black.shape
    columns = int(np.argmin(black[-3, ::-1])) or width
    rows = int(np.argmin(black[::-1, -3])) or height
    if not (0.2 * width < columns < 0.8 * width and 0.2 * height < rows < 0.8 * height):
        return None
    return width - columns, height - rows


def _gap(corner: Pixels, hole: tuple[int, int], piece: Pixels) -> float:
    """How far a piece's borders are from what its neighbours' borders lead to, in Lab levels."""
    left, top = hole
    size = (corner.shape[1] - left, corner.shape[0] - top)
    around = _lab(corner)
    inner = _lab(np.asarray(cv2.resize(piece, size, interpolation=cv2.INTER_AREA), np.uint8))
    # Two px away from the mask: closer by, JPEG has mixed black into the image.
    beside, above = around[top:, left - 3], around[top - 3, left:]
    across = np.abs(beside - inner[:, 0]).mean() + np.abs(above - inner[0]).mean()
    return float(across)


def _lab(image: Pixels) -> NDArray[np.float32]:
    smooth = cv2.GaussianBlur(image, (0, 0), 1.0)
    return np.asarray(cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB), np.float32)


def relative_reflectance(images: Sequence[Pixels]) -> str | None:
    """A if its point has the darker surface, B if its own has, C if they are alike (retinex).

    Light changes slowly, surfaces change at edges: along a path between the points, small steps of
    brightness are left out; what remains is the change of the surface (Land and McCann, 1971;
    Horn, 1974).


    Args:
        images: The one with two white circles.
    """
    (image,) = images
    points = find_lettered(image, "AB", "white")
    if points is None:
        return None
    change = float(np.median([_change(path) for path in _paths(image, points["A"], points["B"])]))
    if abs(change) < _ALIKE:
        return "C"
    return "A" if change > 0 else "B"


def _change(path: NDArray[np.float64]) -> float:
    steps = np.diff(path)
    return float(steps[np.abs(steps) >= _LEAST_EDGE].sum())


def _paths(image: Pixels, start: Point, end: Point) -> list[NDArray[np.float64]]:
    """Logarithm of the light that comes from a straight path, and from two that turn a corner."""
    light = cv2.GaussianBlur(image, (0, 0), 1.5).mean(axis=2)
    logarithm = 2.2 * np.log(np.maximum(light, 1.0) / 255)
    corners = [(start[0], end[1]), (end[0], start[1])]
    routes = [[start, end], *([start, corner, end] for corner in corners)]
    return [_along(logarithm, route) for route in routes]


def _along(values: NDArray[np.float64], route: Sequence[Point]) -> NDArray[np.float64]:
    """Read values along a route, but for the circles and labels at its ends."""
    each = _STEPS // (len(route) - 1)
    places = np.concatenate([np.linspace(a, b, each) for a, b in pairwise(route)])
    away = [np.hypot(*(places - end).T) for end in (route[0], route[-1])]
    free = [(from_end <= 2) | (from_end > _MARKED * len(values)) for from_end in away]
    columns, rows = np.round(places[free[0] & free[1]]).astype(int).T
    seen: NDArray[np.float64] = values[rows, columns]
    return seen
