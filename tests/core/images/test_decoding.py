"""Images that say that they are turned."""

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.images.decoding import decode, decoding_changes
from tests.core.images.written_images import CORNERS, chunk, corners, png, saved, seen, turned

RED, GREEN, BLUE, BLACK, YELLOW, CYAN = CORNERS
UPRIGHT = {
    # What EXIF says of the row and column that come first: what is to be seen, row by row.
    1: [[RED, GREEN, BLUE], [BLACK, YELLOW, CYAN]],
    2: [[BLUE, GREEN, RED], [CYAN, YELLOW, BLACK]],
    3: [[CYAN, YELLOW, BLACK], [BLUE, GREEN, RED]],
    4: [[BLACK, YELLOW, CYAN], [RED, GREEN, BLUE]],
    5: [[RED, BLACK], [GREEN, YELLOW], [BLUE, CYAN]],
    6: [[BLACK, RED], [YELLOW, GREEN], [CYAN, BLUE]],
    7: [[CYAN, BLUE], [YELLOW, GREEN], [BLACK, RED]],
    8: [[BLUE, CYAN], [GREEN, YELLOW], [RED, BLACK]],
}


@pytest.mark.parametrize("image_format", ["PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", UPRIGHT)
def test_a_image_is_turned_as_its_exif_says(orientation, image_format):
    data = turned(orientation, image_format)
    assert seen(data) == UPRIGHT[orientation]
    expected = set() if orientation == 1 else {"turned"}
    assert decode(data).changes == decoding_changes(data) == expected
    assert (decode(data).width, decode(data).height) in ((3, 2), (2, 3))


def test_a_turned_jpeg_is_upright():
    wide = Image.new("RGB", (32, 16), "red")
    wide.paste("blue", (16, 0, 32, 16))  # lies on its left side: red is to be above
    shown = decode(turned(6, "JPEG", wide)).image
    assert shown.size == (16, 32)
    assert np.allclose([shown.getpixel((8, y)) for y in (4, 28)], [RED, BLUE], atol=5)


XMP = b'<x:xmpmeta><rdf:Description tiff:Orientation="3"/></x:xmpmeta>'


@pytest.mark.parametrize(
    ("data", "orientation"),
    [
        pytest.param(
            png(
                *(3, 2, 8, 2, [bytes(sum(CORNERS[:3], ())), bytes(sum(CORNERS[3:], ()))]),
                after=chunk(b"eXIf", bytes(turned(6, "PNG").split(b"eXIf")[1][:-16])),
            ),
            6,
            id="EXIF that stands behind the pixels",
        ),
        pytest.param(
            saved(corners(), "WEBP", lossless=True, xmp=XMP), 3, id="XMP, and no EXIF at all"
        ),
        pytest.param(turned(9, "PNG"), 1, id="a number that means nothing"),
        pytest.param(turned(0, "PNG"), 1, id="the number 0"),
        pytest.param(saved(corners(), exif=b"Exif\0\0II*\0\xff\xff\xff\xff"), 1, id="broken EXIF"),
        pytest.param(saved(corners(), exif=b"Exif\0\0nonsense"), 1, id="EXIF that is none"),
    ],
)
def test_what_says_that_a_image_is_turned_is_heeded_if_it_can_be_read(data, orientation):
    assert seen(data) == UPRIGHT[orientation]
