"""SIFT feature matching between two images."""

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from bench_assets.suites.blink.specialists.circle_detection import Pixels

Places = NDArray[np.float32]  # n, (x, y) px

_HEIGHT = 600  # px that images are matched at, small ones enlarged
_RATIO = 0.8  # of the best match's distance to the second best, at most (Lowe, 2004)


class Matches(NamedTuple):
    """Places that look the same, the n-th of one image and the n-th of the other."""

    first: Places
    second: Places


def match(first: Pixels, second: Pixels) -> Matches:
    """Find places that look alike and like nothing else in the other image."""
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
