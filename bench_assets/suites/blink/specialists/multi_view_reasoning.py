"""Multi-view reasoning by two-view geometry: the essential matrix tells where the camera went."""

from collections.abc import Sequence

import cv2
import numpy as np

from bench_assets.suites.blink.specialists.circle_detection import Pixels
from bench_assets.suites.blink.specialists.feature_matching import match

_LEAST = 12  # matches that must agree on the motion
_FOCAL = 1.1  # focal length of a phone's camera, as a share of the image's longer side


def answer(images: Sequence[Pixels]) -> str | None:
    """Say A if the camera went left between two frames, B if right.

    Args:
        images: The first frame and the last.
    """
    first, second = images
    matches = match(first, second)
    if len(matches.first) < _LEAST:
        return None
    height, width = first.shape[:2]
    focal = _FOCAL * max(height, width)
    camera = np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]])
    essential, inliers = cv2.findEssentialMat(
        matches.first, matches.second, camera, method=cv2.USAC_MAGSAC, prob=0.999, threshold=0.5
    )
    if essential is None or essential.shape != (3, 3) or int(inliers.sum()) < _LEAST:
        return None
    _, rotation, translation, _ = cv2.recoverPose(
        essential, matches.first, matches.second, camera, mask=inliers
    )
    moved_right = float((-rotation.T @ translation)[0, 0])
    return "B" if moved_right > 0 else "A"
