"""Relative reflectance by the retinex idea: light changes slowly, surfaces change at edges.

Along a path between the points, small steps of brightness are taken for light and left out; what
remains is the change of the surface (Land and McCann, 1971; Horn, 1974).
"""

from collections.abc import Sequence
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from bench_assets.core.images.drawing import Point
from bench_assets.suites.blink.specialists.circle_detection import Pixels, find_lettered

_STEPS = 160  # along a path
_LEAST_EDGE = 0.09  # change of the logarithm in one step that light does not make
_MARKED = 0.06  # of the height: how far a circle and its label reach
_ALIKE = 0.25  # change of the logarithm below which two surfaces are about the same


def answer(images: Sequence[Pixels]) -> str | None:
    """Say A if its point has the darker surface, B if its own has, or C if they are alike.

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
