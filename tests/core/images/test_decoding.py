import re
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from bench_assets.core.images.decoding import (
    Header,
    decode,
    is_plain,
    read_header,
    to_plain_format,
)
from bench_assets.core.schema.errors import BenchError, ImageError
from tests.core.images.pixels import decoded_greys, decoded_row, row_image
from tests.fakes.written_images import (
    CORNERS,
    animated,
    chunk,
    corners,
    numbers,
    png,
    saved,
    seen,
    tiff,
    turned,
)

RED, GREEN, BLUE, BLACK, YELLOW, CYAN = CORNERS
UPRIGHT = {
    # EXIF orientation: the pixels of the upright image, row by row.
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
def test_an_image_is_turned_as_its_exif_says(orientation, image_format):
    data = turned(orientation, image_format)
    assert seen(data) == UPRIGHT[orientation]
    assert (decode(data).width, decode(data).height) == (3, 2)  # as stored


CORNER_ROWS = [bytes(sum(CORNERS[:3], ())), bytes(sum(CORNERS[3:], ()))]
TURNED_EXIF = turned(6, "PNG").split(b"eXIf")[1][:-16]  # without checksum and end, 4 + 12 bytes
XMP = b'<x:xmpmeta><rdf:Description tiff:Orientation="3"/></x:xmpmeta>'


@pytest.mark.parametrize(
    ("data", "orientation"),
    [
        pytest.param(
            png(3, 2, 8, 2, CORNER_ROWS, after=chunk(b"eXIf", TURNED_EXIF)),
            6,
            id="EXIF behind the pixels",
        ),
        pytest.param(saved(corners(), "WEBP", lossless=True, xmp=XMP), 3, id="XMP without EXIF"),
        pytest.param(turned(9, "PNG"), 1, id="an undefined number"),
        pytest.param(saved(corners(), exif=b"Exif\0\0II*\0\xff\xff\xff\xff"), 1, id="broken EXIF"),
        pytest.param(saved(corners(), exif=b"Exif\0\0nonsense"), 1, id="nonsense instead of EXIF"),
    ],
)
def test_an_orientation_counts_wherever_it_stands_if_it_can_be_read(data, orientation):
    assert seen(data) == UPRIGHT[orientation]


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
        pytest.param(numbers([0, 32768, 65535], np.uint16), [0, 128, 255], id="a TIFF of 16"),
        pytest.param(numbers([0, 32768, 65535], ">u2"), [0, 128, 255], id="the other byte order"),
        pytest.param(
            numbers([0, 32768, 65535], np.uint16, "JPEG2000"), [0, 128, 255], id="a JPEG 2000 of 16"
        ),
        pytest.param(b"P5 3 1 65535\n\0\0\x80\0\xff\xff", [0, 128, 255], id="a PGM of 16"),
        pytest.param(b"P5 3 1 1023\n\0\0\2\0\3\xff", [0, 128, 255], id="a PGM of 10"),
    ],
)
def test_more_than_8_bits_are_scaled(data, expected):
    assert decoded_greys(data) == expected


def test_a_transparent_level_of_16_bits_is_white():
    data = png(2, 1, 16, 0, [b"\0\0\x12\x34"], before=chunk(b"tRNS", b"\x12\x34"))
    assert decoded_greys(data) == [0, 255]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(numbers([0, 51, 255], np.int32), id="32 bits"),
        pytest.param(numbers([0.0, 0.5, 1.0], np.float32), id="floats"),
        pytest.param(tiff(2, 12, bytes.fromhex("0000ff")), id="12 bits"),
        pytest.param(tiff(2, 16, bytes(4), kind=2), id="16 bits, one of them a sign"),
        pytest.param(b"Pf\n2 1\n-1.0\n" + bytes(8), id="a PFM of floating-point numbers"),
    ],
)
def test_pixels_without_a_defined_white_are_refused(data):
    with pytest.raises(ImageError, match=r"without a defined white .*Convert it to 8 or 16 bits"):
        decode(data)


FORMATS_WITH_FRAMES = ("GIF", "PNG", "WEBP", "TIFF")


@pytest.mark.parametrize("image_format", FORMATS_WITH_FRAMES)
def test_of_several_frames_the_first_is_decoded(image_format):
    first_pixel, *_ = decoded_row(animated(image_format))
    assert np.allclose(first_pixel, RED, atol=5)  # WebP is lossy


def test_a_jpeg_with_a_second_image_behind_it_is_that_jpeg():
    data = animated("MPO")
    assert (decode(data).format, is_plain(data)) == ("MPO", True)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(saved(corners()), True, id="a PNG in RGB"),
        pytest.param(saved(corners(), "JPEG"), True, id="a JPEG"),
        pytest.param(turned(1, "JPEG"), True, id="a JPEG that says it is upright"),
        pytest.param(turned(6, "JPEG"), False, id="a turned JPEG"),
        pytest.param(turned(1, "PNG"), True, id="a PNG that says it is upright"),
        pytest.param(saved(corners().convert("CMYK"), "JPEG"), False, id="a JPEG of inks"),
        pytest.param(saved(corners().convert("RGBA")), False, id="a PNG with alpha, opaque"),
        pytest.param(saved(corners().convert("P")), False, id="a PNG with a palette"),
        pytest.param(saved(corners().convert("1")), False, id="a PNG of one bit"),
        pytest.param(png(1, 1, 16, 2, [b"\xff\0\0\0\0\0"]), False, id="a PNG of 3 x 16 bits"),
        pytest.param(saved(corners(), transparency=RED), False, id="a PNG with a clear colour"),
        pytest.param(numbers([0, 65535], np.uint16, "PNG"), False, id="a PNG of 16 bits"),
        pytest.param(saved(corners(), "GIF"), False, id="a GIF"),
        pytest.param(animated("PNG"), False, id="a PNG of several frames"),
    ],
)
def test_an_image_is_plain_if_every_reader_shows_it_alike(data, expected):
    assert is_plain(data) is expected


JPEG = saved(Image.effect_noise((64, 64), 50).convert("RGB"), "JPEG")
PNG = saved(Image.effect_noise((64, 64), 50).convert("RGB"))


def test_a_plain_image_keeps_its_bytes_and_another_becomes_a_png():
    assert to_plain_format(JPEG) == ("image/jpeg", JPEG)
    assert to_plain_format(PNG) == ("image/png", PNG)
    media_type, data = to_plain_format(turned(6, "PNG"))
    assert (media_type, seen(data), is_plain(data)) == ("image/png", UPRIGHT[6], True)


def test_an_image_may_have_as_many_pixels_as_are_allowed():
    assert decode(PNG, 64 * 64).width == 64
    with pytest.raises(ImageError, match="64 x 64 px, more than the 4095 px allowed"):
        decode(PNG, 64 * 64 - 1)


@pytest.mark.parametrize(
    ("data", "expected_message"),
    [
        pytest.param(b"", "not an image in any known format", id="an empty file"),
        pytest.param(b"Once upon a time " * 99, "not an image", id="a text"),
        pytest.param(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a", id="a program"),
        pytest.param(
            JPEG[: len(JPEG) // 2], "does not decode: image file is truncated", id="half a JPEG"
        ),
        pytest.param(saved(corners(), "WEBP")[:40], "does not decode", id="a cut WebP"),
        pytest.param(JPEG[:2] + bytes(500), "not an image", id="only its magic"),
        pytest.param(png(50_000, 50_000, 8, 2, []), "more than the 100000000 px", id="a bomb"),
        pytest.param(png(0, 5, 8, 2, []), "not an image", id="no columns"),
        pytest.param(png(5, 0, 8, 2, []), "not an image", id="no rows"),
    ],
)
def test_a_file_that_is_no_image_is_an_error(data, expected_message):
    with pytest.raises(ImageError, match=expected_message):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        *(pytest.param(animated(name), id=f"{name}, frames") for name in FORMATS_WITH_FRAMES),
        *(pytest.param(saved(corners(), name), id=name) for name in ("ICO", "JPEG2000")),
        pytest.param(JPEG, id="JPEG"),
        pytest.param(PNG, id="PNG"),
        pytest.param(turned(6, "JPEG"), id="JPEG, turned"),
    ],
)
def test_a_damaged_file_raises_no_other_errors_than_those_of_the_bench(data):
    rng = np.random.default_rng(7)
    for _ in range(30):
        damaged = np.frombuffer(data, np.uint8).copy()
        positions = rng.integers(0, min(len(damaged), 400), 4)
        damaged[positions] = rng.integers(0, 256, 4)
        with suppress(BenchError):
            decode(damaged.tobytes(), 10_000)
        with suppress(BenchError):
            is_plain(damaged.tobytes(), 10_000)


@pytest.mark.parametrize("size", [(100, 100), (101, 100), (101, 101)], ids=str)
def test_a_jpeg_above_the_limit_is_decoded_at_half_its_width_and_height(size):
    decoded = decode(saved(Image.new("RGB", size), "JPEG"), 9_000)
    assert decoded.image.size == (size[0] - size[0] // 2, size[1] - size[1] // 2)
    assert (decoded.width, decoded.height) == size


class OddError(Exception):
    """An error that no decoder documents."""


@pytest.mark.parametrize(("message", "shown"), [("", "OddError"), ("odd", "odd")])
def test_any_exception_of_a_decoder_is_an_image_error(monkeypatch, message, shown):
    def load(_):
        raise OddError(message)

    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load", load)
    with pytest.raises(ImageError, match=f"does not decode: {shown}"):
        decode(PNG)


def test_an_image_is_upright_if_its_exif_cannot_be_read(monkeypatch):
    def getexif(_):
        raise OddError

    monkeypatch.setattr(Image.Image, "getexif", getexif)
    assert seen(turned(6, "PNG")) == [[RED, GREEN, BLUE], [BLACK, YELLOW, CYAN]]


ROOT = Path(__file__).parents[3]
OPENING_CALLS = re.compile(r"\w*Image\.open\(|imread|imdecode|exif_transpose")


def test_only_two_modules_open_images():
    """Besides the decoder, scenes open sprites, which keep their alpha."""
    folders = ("bench_assets", "resources", "sensors", "examples")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    opening_files = [
        file.relative_to(ROOT).as_posix()
        for file in files
        if OPENING_CALLS.search(file.read_text(encoding="utf-8"))
    ]
    assert sorted(opening_files) == [
        "bench_assets/core/images/decoding.py",
        "bench_assets/core/images/synthetic_scenes.py",
    ]


def test_an_image_that_is_allowed_raises_no_warning_of_pillow():
    data = png(10_000, 9_000, 8, 0, [])  # a header alone
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Pillow's own limit is 89 478 485 px
        header = read_header(data)
    assert header == Header(width=10_000, height=9_000, orientation=1)


WHITE = (255, 255, 255)
RED_BLACK = row_image("P", 0, 1, palette=[*RED, *BLACK])
HALF = 127  # black with an alpha of 128 on white: 255 * (255 - 128) / 255


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            saved(
                row_image("RGBA", (0, 0, 0, 255), (0, 0, 0, 0), (0, 0, 0, 128), (255, 0, 0, 128))
            ),
            [BLACK, WHITE, (HALF,) * 3, (255, HALF, HALF)],
            id="a PNG of RGBA",
        ),
        pytest.param(
            saved(row_image("LA", (0, 255), (0, 0), (0, 128))),
            [BLACK, WHITE, (HALF,) * 3],
            id="a PNG of grey and alpha",
        ),
        pytest.param(
            saved(RED_BLACK, transparency=1), [RED, WHITE], id="a PNG palette's clear colour"
        ),
        pytest.param(
            saved(RED_BLACK, transparency=b"\xff\x80"),
            [RED, (HALF,) * 3],
            id="a PNG palette of which each colour has its alpha",
        ),
        pytest.param(
            png(8, 1, 1, 0, [b"\x00"], before=chunk(b"tRNS", b"\0\0")),
            [WHITE] * 8,
            id="a transparent level of 1 bit: black",
        ),
        pytest.param(
            png(2, 1, 16, 2, [b"\x80" + bytes(11)], before=chunk(b"tRNS", b"\x80" + bytes(5))),
            [WHITE, BLACK],
            id="a clear colour of 3 x 16 bits",
        ),
        pytest.param(
            png(2, 1, 16, 6, [bytes(6) + b"\xff\xff" + bytes(8)]),
            [BLACK, WHITE],
            id="RGBA of 4 x 16 bits",
        ),
    ],
)
def test_alpha_is_laid_on_white(data, expected):
    assert decoded_row(data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            saved(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG", quality=100),
            [RED] * 8,
            id="inks in a JPEG, which Adobe writes inverted",
        ),
        pytest.param(saved(row_image("1", 255, 0)), [WHITE, BLACK], id="one bit"),
        pytest.param(saved(RED_BLACK), [RED, BLACK], id="a palette in a PNG"),
        pytest.param(
            png(4, 1, 2, 0, [bytes([0b00011011])]), [(85 * n,) * 3 for n in range(4)], id="2 bits"
        ),
        pytest.param(
            png(2, 1, 16, 2, [b"\xff\xff\0\0\0\0" + bytes(6)]), [RED, BLACK], id="3 x 16 bits"
        ),
    ],
)
def test_colours_become_rgb(data, expected):
    assert decoded_row(data) == expected
