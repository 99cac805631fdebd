"""What pixels become in RGB: each value by pencil."""

import struct

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.errors import ImageError
from bench_assets.core.pictures import changes_of, decode
from tests.core.written_pictures import chunk, numbers, png, saved, tiff


def row(data):
    picture = decode(data).picture
    assert picture.mode == "RGB"
    return [picture.getpixel((x, 0)) for x in range(picture.width)]


def greys(data):
    assert all(red == green == blue for red, green, blue in row(data))
    return [red for red, _, _ in row(data)]


def of(mode, *pixels, palette=()):
    picture = Image.new(mode, (len(pixels), 1))
    for x, pixel in enumerate(pixels):
        picture.putpixel((x, 0), pixel)
    if palette:
        picture.putpalette(palette)
    return picture


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
    assert decode(data).changes == changes_of(data) == {"laid on white"}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(saved(of("RGBA", (9, 8, 7, 255), (1, 2, 3, 255))), id="opaque all over"),
        pytest.param(saved(of("RGBA", (255, 255, 255, 0), (1, 2, 3, 255))), id="clear white"),
        pytest.param(saved(TWO, transparency=77), id="a clear colour that no pixel has"),
    ],
)
def test_alpha_that_changes_nothing_is_no_change(data):
    assert decode(data).changes == changes_of(data) == set()


UNSIGNED = numbers([0, -(2**31), -1], np.int32).replace(
    b"\x53\x01\x03\x00\x01\x00\x00\x00\x02\x00", b"\x53\x01\x03\x00\x01\x00\x00\x00\x01\x00"
)
WHITE_IS_ZERO = numbers([0, 65535], np.uint16).replace(
    b"\x06\x01\x03\x00\x01\x00\x00\x00\x01\x00", b"\x06\x01\x03\x00\x01\x00\x00\x00\x00\x00"
)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            numbers([0, 257, 32768, 65535], np.uint16, "PNG"), [0, 1, 128, 255], id="a PNG of 16"
        ),
        pytest.param(
            numbers([0, 128, 129, 65535], np.uint16, "PNG"),
            [0, 0, 1, 255],
            id="16 bits are rounded: 128 is below half a level, 129 above",
        ),
        pytest.param(
            numbers([0, 255], np.uint16, "PNG"), [0, 1], id="16 bits that are dark stay dark"
        ),
        pytest.param(numbers([0, 32768, 65535], np.uint16), [0, 128, 255], id="a TIFF of 16"),
        pytest.param(numbers([0, 32768, 65535], ">u2"), [0, 128, 255], id="the other byte order"),
        pytest.param(WHITE_IS_ZERO, [255, 0], id="a TIFF of 16 whose 0 is white"),
        pytest.param(
            tiff(4, 12, bytes.fromhex("000fff800fff")), [0, 255, 128, 255], id="a TIFF of 12"
        ),
        pytest.param(tiff(2, 12, bytes.fromhex("0000ff")), [0, 16], id="a dark TIFF of 12"),
        *(
            pytest.param(
                tiff(4, 16, struct.pack(f"{order}4h", 0, 255, 16384, 32767), kind=2, order=order),
                [0, 2, 128, 255],
                id=f"a TIFF of 16, one of them a sign, {order}",
            )
            for order in "<>"
        ),
        *(
            pytest.param(
                tiff(2, 16, struct.pack(f"{order}2h", 0, 255), kind=2, order=order),
                [0, 2],
                id=f"dark ones with a sign, {order}",
            )
            for order in "<>"
        ),
        pytest.param(b"P5 3 1 65535\n\0\0\x80\0\xff\xff", [0, 128, 255], id="a PGM of 16"),
        pytest.param(b"P5 3 1 1023\n\0\0\2\0\3\xff", [0, 128, 255], id="a PGM of 10"),
        pytest.param(b"P2 3 1 65535\n0 32768 65535\n", [0, 128, 255], id="a PGM in letters"),
        pytest.param(numbers([0, 51, 255], np.int32), [0, 51, 255], id="32 bits up to 255"),
        pytest.param(numbers([0, 257, 65535], np.int32), [0, 1, 255], id="32 bits up to 65535"),
        pytest.param(
            numbers([0, 2**30, 2**31 - 1], np.int32), [0, 64, 127], id="32 bits, all of them"
        ),
        pytest.param(UNSIGNED, [0, 128, 255], id="32 bits, of which none is a sign"),
        pytest.param(numbers([-7, 0, 255], np.int32), [0, 0, 255], id="below 0 is black"),
        pytest.param(numbers([0.0, 0.2, 1.0], np.float32), [0, 51, 255], id="floats up to 1"),
        pytest.param(numbers([0.0, 51.0, 255.0], np.float32), [0, 51, 255], id="floats up to 255"),
        pytest.param(
            numbers([0.0, 257.0, 65535.0], np.float32), [0, 1, 255], id="floats up to 65535"
        ),
        pytest.param(numbers([-1.0, 0.5, 1.0], np.float32), [0, 128, 255], id="floats below 0"),
        pytest.param(numbers([0.0, 1e20, 2e20], np.float32), [0, 128, 255], id="huge floats"),
        pytest.param(numbers([0.0, 0.0], np.float32), [0, 0], id="floats that are all 0"),
    ],
)
def test_more_than_8_bits_are_scaled(data, expected):
    assert greys(data) == expected


def test_a_clear_level_of_16_bits_is_white():
    assert greys(png(2, 1, 16, 0, [b"\0\0\x12\x34"], before=chunk(b"tRNS", b"\x12\x34"))) == [
        0,
        255,
    ]


def test_a_ramp_of_16_bits_is_a_ramp():
    ramp = greys(numbers(range(0, 65536, 257), np.uint16, "PNG"))
    assert ramp == list(range(256))


def test_scaling_is_a_change_only_where_a_pixel_changes():
    assert decode(numbers([0, 300], np.uint16, "PNG")).changes == {"scaled"}
    assert changes_of(numbers([0, 51, 255], np.int32)) == set()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_pixel_that_is_no_number_is_refused(value):
    with pytest.raises(ImageError, match="pixels that are no finite numbers"):
        decode(numbers([0.5, value], np.float32))


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
