"""Visual correspondence by matching descriptors: a homography carries the reference point over."""

from collections.abc import Sequence
from math import dist

import cv2
import numpy as np

from bench_assets.suites.blink.specialists.circle_detection import (
    Pixels,
    find_circles,
    find_lettered,
)
from bench_assets.suites.blink.specialists.feature_matching import match

_LEAST = 10  # matches that must agree on a homography


def answer(images: Sequence[Pixels]) -> str | None:
    """Say which lettered point lies closest to where the reference point comes to lie.

    Args:
        images: The one with REF, and the one with A to D.
    """
    first, second = images
    reference = find_circles(first, 1, "red")
    points = find_lettered(second, "ABCD", "red")
    if reference is None or points is None:
        return None
    matches = match(first, second)
    if len(matches.first) < _LEAST:
        return None
    homography, inliers = cv2.findHomography(matches.first, matches.second, cv2.RANSAC, 4.0)
    if homography is None or int(inliers.sum()) < _LEAST:
        return None
    x, y, w = homography @ np.array([*reference[0], 1.0])
    return min(points, key=lambda letter: dist(points[letter], (x / w, y / w)))
