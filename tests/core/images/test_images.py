"""How an image is shown: upright, its first frame, no larger than allowed, or an error by name."""

import io
import re
import struct
import warnings
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from bench_assets.core.images.decoding import decode, decoding_changes, is_plain, read_header
from bench_assets.core.schema.errors import BenchError, ImageError
from tests.core.images.written_images import (
    CORNERS,
    animated,
    corners,
    numbers,
    png,
    saved,
    seen,
    turned,
)

ROOT = Path(__file__).parents[3]
RED, GREEN, BLUE, BLACK, YELLOW, CYAN = CORNERS


@pytest.mark.parametrize("image_format", ["GIF", "PNG", "WEBP", "TIFF"])
def test_several_frames_are_shown_by_the_first_and_that_is_said(image_format):
    data = animated(image_format)
    shown = decode(data)
    assert np.allclose(shown.image.getpixel((0, 0)), RED, atol=5)
    assert shown.changes == decoding_changes(data) == {"first frame"}
    assert not is_plain(data)


def test_what_the_header_says_is_read_without_the_pixels():
    assert decoding_changes(PNG[: len(PNG) // 2]) == set()
    assert decoding_changes(JPEG[: len(JPEG) // 2]) <= {"end added"}


def test_a_jpeg_with_a_second_image_behind_it_is_that_jpeg():
    data = animated("MPO")
    assert (decode(data).format, decode(data).changes, is_plain(data)) == ("MPO", set(), True)


@pytest.mark.parametrize(
    ("data", "plain"),
    [
        pytest.param(saved(corners()), True, id="a PNG in RGB"),
        pytest.param(saved(corners().convert("L")), True, id="a grey PNG"),
        pytest.param(saved(corners(), "JPEG"), True, id="a JPEG"),
        pytest.param(saved(corners().convert("L"), "JPEG"), True, id="a grey JPEG"),
        pytest.param(turned(1, "JPEG"), True, id="a JPEG that says it is upright"),
        pytest.param(turned(6, "JPEG"), False, id="a turned JPEG"),
        pytest.param(saved(corners().convert("CMYK"), "JPEG"), False, id="a JPEG of inks"),
        pytest.param(saved(corners().convert("RGBA")), False, id="a PNG with alpha, opaque"),
        pytest.param(saved(corners().convert("P")), False, id="a PNG with a palette"),
        pytest.param(saved(corners().convert("1")), False, id="a PNG of one bit"),
        pytest.param(png(2, 1, 4, 0, [b"\x0f"]), False, id="a PNG of four bits"),
        pytest.param(png(1, 1, 16, 2, [b"\xff\0\0\0\0\0"]), False, id="a PNG of 3 x 16 bits"),
        pytest.param(saved(corners(), transparency=RED), False, id="a PNG with a clear colour"),
        pytest.param(numbers([0, 65535], np.uint16, "PNG"), False, id="a PNG of 16 bits"),
        pytest.param(saved(corners(), "GIF"), False, id="a GIF"),
        pytest.param(saved(corners(), "WEBP"), False, id="a WebP"),
        pytest.param(saved(corners(), "BMP"), False, id="a BMP"),
    ],
)
def test_what_every_reader_shows_alike_is_plain(data, plain):
    assert is_plain(data) is plain


JPEG = saved(Image.effect_noise((64, 64), 50).convert("RGB"), "JPEG")
PNG = saved(Image.effect_noise((64, 64), 50).convert("RGB"))


def test_a_image_may_have_as_many_pixels_as_are_allowed():
    assert decode(PNG, 64 * 64).width == 64
    with pytest.raises(ImageError, match="64 x 64 px, more than the 4095 px allowed"):
        decode(PNG, 64 * 64 - 1)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"", "not an image in any known format", id="an empty file"),
        pytest.param(b"Once upon a time " * 99, "not an image", id="a text"),
        pytest.param(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "not an image", id="a drawing"),
        pytest.param(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a", id="a program"),
        pytest.param(b"/* XPM */\nstatic char *a[] = {};", "not an image", id="source code"),
        pytest.param(JPEG[: len(JPEG) // 2], "cut short", id="half a JPEG"),
        pytest.param(PNG[: len(PNG) // 2], "does not decode", id="half a PNG"),
        pytest.param(animated("GIF")[:60], "does not decode|not an image", id="a cut GIF"),
        pytest.param(saved(corners(), "WEBP")[:40], "does not decode|not a", id="a cut WebP"),
        pytest.param(saved(corners(), "TIFF")[:150], "does not decode|not a", id="a cut TIFF"),
        pytest.param(JPEG[:2] + bytes(500), "does not decode|not an image", id="only its magic"),
        pytest.param(png(50_000, 50_000, 8, 2, []), "more than the 100000000 px", id="a bomb"),
        pytest.param(
            png(12_000, 12_000, 8, 2, []), "12000 x 12000 px, more than", id="a smaller bomb"
        ),
        pytest.param(png(2**31 - 1, 2**31 - 1, 8, 2, []), "more than the", id="the largest bomb"),
        pytest.param(png(0, 5, 8, 2, []), "nothing to see|not an image", id="no columns"),
        pytest.param(png(5, 0, 8, 2, []), "nothing to see|not an image", id="no rows"),
        pytest.param(b"P6 0 0 255\n", "nothing to see|not an image", id="an empty PPM"),
    ],
)
def test_what_cannot_be_shown_is_one_error(data, why):
    with pytest.raises(ImageError, match=why):
        decode(data)
    for read in (decoding_changes, is_plain):
        _only_ours(read, data)


def test_whatever_is_done_to_a_file_nothing_but_our_error_comes_out():
    rng = np.random.default_rng(7)
    whole = [JPEG, PNG, *(animated(one) for one in ("GIF", "WEBP", "TIFF", "PNG"))]
    whole += [turned(6, "JPEG"), saved(corners(), "ICO"), saved(corners(), "JPEG2000")]
    for data in whole:
        for _ in range(30):
            spoilt = np.frombuffer(data, np.uint8).copy()
            spots = rng.integers(0, min(len(spoilt), 400), 4)
            spoilt[spots] = rng.integers(0, 256, 4)
            for read in (decode, decoding_changes, is_plain):
                _only_ours(read, spoilt.tobytes(), 10_000)


class OddError(Exception):
    """Of no kind that anybody would think of."""


@pytest.mark.parametrize("said", ["", "odd"])
def test_whatever_a_decoder_raises_is_that_image_s_error(monkeypatch, said):
    def load(_):
        raise OddError(said)

    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load", load)
    with pytest.raises(ImageError, match=f"does not decode: {said or 'OddError'}"):
        decode(PNG)
    assert decode(JPEG).width == 64


def test_whatever_reading_exif_raises_a_image_is_upright(monkeypatch):
    def getexif(_):
        raise OddError

    monkeypatch.setattr(Image.Image, "getexif", getexif)
    assert seen(turned(6, "PNG")) == [[RED, GREEN, BLUE], [BLACK, YELLOW, CYAN]]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("where", ["load", "getexif"])
def test_the_end_of_the_program_is_no_image_s_error(monkeypatch, where, raised):
    def end(_):
        raise raised

    monkeypatch.setattr(Image.Image, where, end)
    monkeypatch.setattr(PngImagePlugin.PngImageFile, where, end)
    with pytest.raises(raised):
        decode(turned(6, "PNG"))


def _only_ours(read, *args):
    with suppress(BenchError):
        read(*args)


OPENS = re.compile(r"\b(Image|Images?)\.open\(|imread|imdecode|exif_transpose")


def test_images_are_opened_in_one_place():
    """But for sprites, which keep their alpha, metadata, and copies with changed ends."""
    folders = ("bench_assets", "resources", "sensors", "examples")
    files = (file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    opening = {file for file in files if OPENS.search(file.read_text(encoding="utf-8"))}
    opening = {file.relative_to(ROOT).as_posix() for file in opening}
    assert opening == {
        "bench_assets/core/images/completeness.py",
        "bench_assets/core/images/decoding.py",
        "bench_assets/core/images/metadata.py",
        "bench_assets/core/images/synthetic_scenes.py",
    }


def with_size(width, height):
    """A PNG whose header says so; the rest of it is another image's."""
    written = io.BytesIO()
    Image.new("L", (1, 1)).save(written, "PNG")
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    ending = struct.pack(">I", zlib.crc32(header))
    return written.getvalue()[:12] + header + ending + written.getvalue()[33:]


def test_what_is_allowed_here_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Pillow's own limit is 89 478 485 px
        assert read_header(with_size(10_000, 9_000)) == ("PNG", 10_000, 9_000, 1)


def test_inks_are_no_light():
    written = io.BytesIO()
    Image.new("CMYK", (2, 2)).save(written, "JPEG")
    assert decoding_changes(written.getvalue()) == {"inks"}
