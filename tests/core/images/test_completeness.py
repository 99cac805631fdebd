"""Half-written copies of images, and whole ones that only look like it."""

import io
from typing import Any

import numpy as np
import pytest
from PIL import ExifTags, Image

from bench_assets.core.images import completeness
from bench_assets.core.images.completeness import jpeg_layout
from bench_assets.core.images.decoding import END_ADDED, decode, is_plain
from bench_assets.core.schema.errors import ImageError
from bench_resources.images.store import ImageStore, inspect_image
from tests.fakes.keeping import keep

END = b"\xff\xd9"


def photo():
    """Colours that change everywhere, as in a photograph; 320 x 240 px."""
    rows, columns = np.mgrid[0:240, 0:320]
    waves = 128 + 60 * np.sin(columns / 17) + 40 * np.cos(rows / 13)
    plain = np.stack([columns * 0.79, rows * 1.06, waves], axis=-1)
    noisy = plain + np.random.default_rng(0).normal(0, 12, plain.shape)
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def written(image, form, **options):
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


KINDS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 90},
    "JPEG progressive": {"quality": 90, "progressive": True},
    "JPEG restarts": {"quality": 90, "restart_marker_rows": 2},
    "WEBP": {"quality": 90},
    "WEBP lossless": {"lossless": True},
    "PNG": {},
    "GIF": {},
    "AVIF": {},
}
WHOLE = {name: written(photo(), name.split()[0], **options) for name, options in KINDS.items()}
PARTS = (0.15, 0.33, 0.5, 0.66, 0.9)


def zeroed(data, start, end):
    return data[:start] + bytes(end - start) + data[end:]


def mutations(name):
    """Ten half-written copies, and two that were cut and given an end."""
    data = WHOLE[name]
    for part in PARTS:
        at = int(len(data) * part)
        yield f"zeros from {part}", zeroed(data, at, len(data))
        yield f"zeros from a block at {part}", zeroed(data, at - at % 512, len(data))
    if name.startswith("JPEG"):
        for part in PARTS:
            yield f"cut at {part}, with an end", data[: int(len(data) * part)] + END
            yield f"cut at {part}", data[: int(len(data) * part)]
        third = len(data) // 3
        yield "zeros in the middle", zeroed(data, third, 2 * third)


@pytest.mark.parametrize(
    "data",
    [pytest.param(d, id=f"{name}: {what}") for name in KINDS for what, d in mutations(name)],
)
def test_a_half_written_copy_is_refused(data):
    with pytest.raises(ImageError):
        inspect_image(data, "a", 10**8, 10**8)


@pytest.mark.parametrize("turn", range(1, 9))
def test_a_cut_jpeg_with_an_end_is_refused_however_it_is_turned(turn):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = turn
    data = written(photo(), "JPEG", quality=90, exif=exif)
    assert inspect_image(data, "a", 10**8, 10**8).orientation == turn
    with pytest.raises(ImageError, match="cut short"):
        inspect_image(data[: len(data) // 2] + END, "a", 10**8, 10**8)


@pytest.mark.parametrize("end", [b"", END], ids=["cut", "cut, with an end"])
def test_a_progressive_jpeg_cut_at_any_scan_is_refused(end):
    data = WHOLE["JPEG progressive"]
    layout = jpeg_layout(data)
    assert layout is not None
    for scan in layout.scans:
        for at in (scan.start + 2, (scan.start + scan.end) // 2, scan.end - 12):
            with pytest.raises(ImageError, match=r"cut short|does not decode"):
                inspect_image(data[:at] + end, "a", 10**8, 10**8)


def half_plain(colour):
    image = Image.new("RGB", (480, 480), colour)
    image.paste(photo(), (0, 0))
    return image


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    "image",
    [
        pytest.param(photo(), id="a photograph"),
        pytest.param(Image.new("RGB", (480, 480), (128, 128, 128)), id="grey, as decoders fill"),
        pytest.param(Image.new("RGB", (480, 480)), id="black"),
        pytest.param(half_plain("white"), id="white below"),
        pytest.param(half_plain("black"), id="black below"),
        pytest.param(half_plain((128, 128, 128)), id="grey below"),
    ],
)
def test_a_whole_image_is_taken_however_plain(image, name):
    form, options = name.split()[0], KINDS[name]
    for more in ({}, {"optimize": True} if form == "JPEG" else {"method": 0}):
        data = written(image, form, **options, **more)
        assert inspect_image(data, "a", 10**8, 10**8).width == image.width
    padded = inspect_image(data + bytes(4096), "a", 10**8, 10**8) if form != "AVIF" else None
    assert padded is None or padded.format == form


@pytest.mark.parametrize("missing", [1, 2])
@pytest.mark.parametrize("name", ["JPEG", "JPEG progressive", "JPEG restarts"])
def test_a_jpeg_that_lacks_its_last_bytes_alone_is_taken_with_a_note(
    tmp_path, name, missing, caplog
):
    data = WHOLE[name][:-missing]
    store = ImageStore(folder=str(tmp_path))
    stored = store.put(data, "photo.jpg")
    assert store.read(stored.sha256) == data  # as it came
    assert f"photo.jpg: {END_ADDED}" in caplog.text
    decoded = decode(data)
    assert decoded.changes == {"end added"}
    assert decoded.image.tobytes() == decode(WHOLE[name]).image.tobytes()
    assert not is_plain(data)  # other readers are sent a file that is whole


@pytest.mark.parametrize("form", ["BMP", "TIFF", "PPM"])
def test_an_end_of_zeros_in_a_format_without_compression_is_logged(tmp_path, form, caplog):
    data = written(photo(), form)
    store = ImageStore(folder=str(tmp_path))
    store.put(data, "whole")
    assert not caplog.records
    store.put(zeroed(data, len(data) // 2, len(data)), "half")
    assert "half: its last " in caplog.text
    assert "bytes are zero: black, or a half-written copy; it is accepted" in caplog.text


def test_a_large_jpeg_is_decoded_at_half_its_size_and_keeps_the_size_of_its_file():
    data = WHOLE["JPEG"]
    decoded = decode(data, 320 * 240 - 1)
    assert (decoded.width, decoded.height, decoded.image.size) == (320, 240, (160, 120))
    with pytest.raises(ImageError, match="320 x 240 px, more than the 76799 px allowed"):
        decode(data, 320 * 240 - 1, exact=True)
    for more, most in ((WHOLE["PNG"], 320 * 240 - 1), (data, 320 * 240 // 2)):
        with pytest.raises(ImageError, match="320 x 240 px, more than"):
            decode(more, most)


def test_doubtful_ends_of_a_large_jpeg_are_compared_at_half_its_size(monkeypatch):
    seen: list[Image.Image] = []
    strips = completeness._strips
    monkeypatch.setattr(completeness, "_MAX_FULL_SIZE_PIXELS", 480 * 480 - 1)
    monkeypatch.setattr(completeness, "_strips", lambda image: strips(keep(seen, image)))
    inspect_image(written(half_plain("white").convert("L"), "JPEG"), "a", 10**8, 10**8)
    assert {image.size for image in seen} == {(240, 240)}
