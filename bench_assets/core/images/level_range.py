"""Range of an image's levels, which is small for blank images."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

_CELLS = 64  # cells a side, each of at least _MIN_CELL_SIZE px a side
_MIN_CELL_SIZE = 3  # px a side
_SPECKS = 0.02  # largest share of lone pixels in an image that is otherwise blank
_MAX_SPECK_SIZE = 2  # pixels of a speck, at most
_BLANK_LEVELS = 12.0  # levels around the median that count as blank
_MAX_SIDE = 1024  # px a side; larger images are shrunk
_GRAIN = 9.0  # standard errors of a cell's mean that grain alone spreads over all cells

_Levels: TypeAlias = npt.NDArray[np.float32]


def level_range(image: Image.Image) -> int:
    """Range, 0 to 255, of the mean levels of 64 x 64 cells, in the channel with the widest range.

    What grain and lone pixels explain is left out.

    >>> level_range(Image.new("RGB", (8, 8), (60, 60, 60)))
    0
    """
    shrunk = image.convert("RGB").reduce(max(1, max(image.size) // _MAX_SIDE))
    channels = [np.asarray(channel, np.float32) for channel in shrunk.split()]
    return round(max(map(_channel_range, channels)))


def _channel_range(levels: _Levels) -> float:
    """Range of the means of cells, less what grain within the cells and lone pixels explain."""
    levels = _without_specks(levels)
    means, mean_squares = _cell_means(levels), _cell_means(levels**2)
    grain = np.median(np.sqrt(np.maximum(0, mean_squares - means**2)))
    pixels_per_cell = max(1.0, levels.size / means.size)
    return max(0.0, float(np.ptp(means) - _GRAIN * grain / pixels_per_cell**0.5))


def _without_specks(levels: _Levels) -> _Levels:
    """Remove lone pixels from an image that is otherwise blank; leave any other image as it is."""
    median = float(np.median(levels))
    outliers = np.abs(levels - median) > _BLANK_LEVELS
    if not 0 < np.count_nonzero(outliers) <= _SPECKS * levels.size:
        return levels
    padded = np.pad(outliers, 1)
    high, wide = outliers.shape
    n_outliers = sum(  # among each pixel and its eight neighbours
        padded[row : row + high, column : column + wide].astype(np.int8)
        for row in range(3)
        for column in range(3)
    )
    return np.where(outliers & (n_outliers <= _MAX_SPECK_SIZE), np.float32(median), levels)


def _cell_means(levels: _Levels) -> _Levels:
    """Mean level of each cell; small images have fewer cells."""
    image = Image.fromarray(levels)
    high, wide = (min(_CELLS, max(1, side // _MIN_CELL_SIZE)) for side in levels.shape)
    return np.asarray(image.resize((wide, high), Image.Resampling.BOX), np.float32)
