"""Statistics of an image's pixels that say nothing about what it shows."""

from typing import NamedTuple

import numpy as np
from PIL import Image

_CELLS = 64  # a side
_LARGEST = 1024  # px a side; larger images are shrunk


class ImageStatistics(NamedTuple):
    """Levels are 0 to 255."""

    range: int  # largest of a channel over 64 x 64 cells, which averages out pixel noise
    brightness: float  # mean level of grey
    contrast: float  # standard deviation of the levels
    sharpness: float  # variance of the Laplacian


def image_statistics(image: Image.Image) -> ImageStatistics:
    """Measure an image.

    >>> image_statistics(Image.new("RGB", (8, 8), (60, 60, 60)))
    ImageStatistics(range=0, brightness=60.0, contrast=0.0, sharpness=0.0)
    """
    box = Image.Resampling.BOX
    cells = np.asarray(image.convert("RGB").resize((_CELLS, _CELLS), box), dtype=int)
    shrunk = image.convert("L").reduce(max(1, max(image.size) // _LARGEST))
    grey = np.asarray(shrunk, dtype=np.float64)
    return ImageStatistics(
        range=int(np.ptp(cells, axis=(0, 1)).max()),
        brightness=round(float(grey.mean()), 4),
        contrast=round(float(grey.std()), 4),
        sharpness=round(_sharpness(grey), 4),
    )


def _sharpness(grey: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> float:
    if min(grey.shape) < 3:
        return 0.0
    around = grey[:-2, 1:-1] + grey[2:, 1:-1] + grey[1:-1, :-2] + grey[1:-1, 2:]
    return float((around - 4 * grey[1:-1, 1:-1]).var())
