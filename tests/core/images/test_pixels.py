"""What pixels become in RGB: each value by pencil."""

import pytest
from PIL import Image

from bench_assets.core.images.decoding import decode, decoding_changes
from tests.core.images.pixels import of, row
from tests.core.images.written_images import chunk, png, saved

WHITE, BLACK, RED = (255, 255, 255), (0, 0, 0), (255, 0, 0)
TWO = of("P", 0, 1, palette=[255, 0, 0, 0, 0, 0])  # red, black
HALF = 127  # black, of which 128 in 255 covers white: 255 * 127 / 255


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            saved(of("RGBA", (0, 0, 0, 255), (0, 0, 0, 0), (0, 0, 0, 128), (255, 0, 0, 128))),
            [BLACK, WHITE, (HALF,) * 3, (255, HALF, HALF)],
            id="a PNG of RGBA",
        ),
        pytest.param(
            saved(of("LA", (0, 255), (0, 0), (0, 128))),
            [BLACK, WHITE, (HALF,) * 3],
            id="a PNG of grey and alpha",
        ),
        pytest.param(
            saved(of("PA", (0, 255), (0, 0), palette=[0, 0, 0, 255, 0, 0]), "TIFF"),
            [BLACK, WHITE],
            id="a TIFF of a palette and alpha",
        ),
        pytest.param(saved(TWO, transparency=1), [RED, WHITE], id="a PNG palette's clear colour"),
        pytest.param(
            saved(TWO, transparency=b"\xff\x80"),
            [RED, (HALF,) * 3],
            id="a PNG palette of which each colour has its alpha",
        ),
        pytest.param(saved(TWO, "GIF", transparency=1), [RED, WHITE], id="a GIF's clear colour"),
        pytest.param(
            saved(of("RGB", RED, BLACK), transparency=BLACK), [RED, WHITE], id="RGB's clear colour"
        ),
        pytest.param(
            saved(of("L", 9, 0), transparency=9), [WHITE, BLACK], id="a grey PNG's clear level"
        ),
        pytest.param(
            png(4, 1, 2, 0, [bytes([0b00011011])], before=chunk(b"tRNS", b"\0\1")),
            [BLACK, WHITE, (170,) * 3, WHITE],
            id="a clear level of 2 bits: 1 of 3",
        ),
        pytest.param(
            png(2, 1, 4, 0, [b"\x05"], before=chunk(b"tRNS", b"\0\x05")),
            [BLACK, WHITE],
            id="a clear level of 4 bits",
        ),
        pytest.param(
            png(8, 1, 1, 0, [b"\x00"], before=chunk(b"tRNS", b"\0\0")),
            [WHITE] * 8,
            id="a clear level of 1 bit: black",
        ),
        pytest.param(
            png(
                2,
                1,
                16,
                2,
                [b"\x80\0\0\0\0\0" + bytes(6)],
                before=chunk(b"tRNS", b"\x80" + bytes(5)),
            ),
            [WHITE, BLACK],
            id="a clear colour of 3 x 16 bits",
        ),
        pytest.param(
            png(2, 1, 16, 6, [bytes(6) + b"\xff\xff" + bytes(8)]),
            [BLACK, WHITE],
            id="RGBA of 4 x 16 bits",
        ),
        pytest.param(
            saved(of("RGBA", (0, 0, 0, 255), (0, 0, 0, 0)), "WEBP", lossless=True),
            [BLACK, WHITE],
            id="a WebP of RGBA",
        ),
    ],
)
def test_alpha_is_laid_on_white(data, expected):
    assert row(data) == expected
    assert decode(data).changes == decoding_changes(data) == {"laid on white"}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(saved(of("RGBA", (9, 8, 7, 255), (1, 2, 3, 255))), id="opaque all over"),
        pytest.param(saved(of("RGBA", (255, 255, 255, 0), (1, 2, 3, 255))), id="clear white"),
        pytest.param(saved(TWO, transparency=77), id="a clear colour that no pixel has"),
    ],
)
def test_alpha_that_changes_nothing_is_no_change(data):
    assert decode(data).changes == decoding_changes(data) == set()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            saved(of("CMYK", (0, 0, 0, 0), (0, 0, 0, 255), (0, 255, 255, 0)), "TIFF"),
            [WHITE, BLACK, RED],
            id="inks in a TIFF",
        ),
        pytest.param(
            saved(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG", quality=100),
            [RED] * 8,
            id="inks in a JPEG, which Adobe writes inverted",
        ),
        pytest.param(
            saved(of("YCbCr", (255, 128, 128), (0, 128, 128)), "TIFF"), [WHITE, BLACK], id="YCbCr"
        ),
        pytest.param(
            saved(of("LAB", (255, 128, 128), (0, 128, 128), (138, 209, 198)), "TIFF"),
            [WHITE, BLACK, RED],
            id="L*a*b*: 100, 0, and 54.1 81 70 for the red of sRGB",
        ),
        pytest.param(saved(of("1", 255, 0)), [WHITE, BLACK], id="one bit"),
        pytest.param(saved(TWO), [RED, BLACK], id="a palette in a PNG"),
        pytest.param(saved(TWO, "GIF"), [RED, BLACK], id="a palette in a GIF"),
        pytest.param(saved(TWO, "BMP"), [RED, BLACK], id="a palette in a BMP"),
        pytest.param(
            png(4, 1, 2, 0, [bytes([0b00011011])]), [(85 * n,) * 3 for n in range(4)], id="2 bits"
        ),
        pytest.param(
            png(2, 1, 16, 2, [b"\xff\xff\0\0\0\0" + bytes(6)]), [RED, BLACK], id="3 x 16 bits"
        ),
    ],
)
def test_colours_become_rgb(data, expected):
    assert row(data) == expected
    assert decode(data).changes <= {"inks"}
