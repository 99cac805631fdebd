"""Images whose pixels NumPy turns, with the EXIF orientation that turns them upright again."""

from pathlib import Path

import numpy as np
from PIL import ExifTags, Image

# EXIF orientation -> function from upright pixels (row, column) to stored ones.
STORED = {
    1: lambda pixels: pixels,
    2: lambda pixels: pixels[:, ::-1],
    3: lambda pixels: pixels[::-1, ::-1],
    4: lambda pixels: pixels[::-1],
    5: lambda pixels: pixels.swapaxes(0, 1),
    6: lambda pixels: pixels.swapaxes(0, 1)[::-1],
    7: lambda pixels: pixels.swapaxes(0, 1)[::-1, ::-1],
    8: lambda pixels: pixels.swapaxes(0, 1)[:, ::-1],
}


def turn(path: Path, orientation: int) -> None:
    """Replace an upright image by a turned PNG with the EXIF orientation that corrects it."""
    with Image.open(path) as image:
        pixels = STORED[orientation](np.asarray(image.convert("RGB")))
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    Image.fromarray(np.ascontiguousarray(pixels)).save(path, "PNG", exif=exif)
