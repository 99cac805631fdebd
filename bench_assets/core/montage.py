"""Several pictures as one, for models that take only one."""

import io
from collections.abc import Sequence

from PIL import Image

MARGIN = 10
"""px of black between two pictures (BLINK, appendix C.1, and its authors' code)."""


def side_by_side(pictures: Sequence[Image.Image]) -> Image.Image:
    """Put pictures in a row on black, as high as the highest, each in the middle of that height.

    >>> side_by_side([Image.new("RGB", (30, 20)), Image.new("RGB", (50, 80))]).size
    (90, 80)
    """
    width = sum(picture.width for picture in pictures) + MARGIN * (len(pictures) - 1)
    height = max(picture.height for picture in pictures)
    row = Image.new("RGB", (width, height))
    left = 0
    for picture in pictures:
        row.paste(picture, (left, (height - picture.height) // 2))
        left += picture.width + MARGIN
    return row


def as_jpeg(picture: Image.Image) -> bytes:
    """Write a picture as JPEG of high quality: rows of photographs are too large for PNG."""
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=95, subsampling=0)
    return data.getvalue()
