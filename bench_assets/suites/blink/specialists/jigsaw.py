"""Jigsaw by continuity: the right piece goes on where its neighbours end."""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from bench_assets.suites.blink.specialists.circle_detection import Pixels

_BLACK = 24  # levels of 255: JPEG leaves a mask not quite black


def answer(images: Sequence[Pixels]) -> str | None:
    """Say A if the second image fits the hole in the first better than the third does, or B.

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
