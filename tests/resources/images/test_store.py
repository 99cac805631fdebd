import struct
import zlib
from hashlib import sha256
from pathlib import Path

import pytest
from PIL import Image

from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Rejection
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from tests.fakes.rows import question
from tests.fakes.written_images import saved


@pytest.fixture
def store(tmp_path: Path) -> ImageStore:
    return ImageStore(folder=str(tmp_path / "images"))


def image(image_format: str, width: int = 40, height: int = 30) -> bytes:
    return saved(Image.effect_noise((width, height), 50).convert("RGB"), image_format)


def png_header(width: int, height: int) -> bytes:
    """A PNG with a size in its header, and without pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    size = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"")
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("image_format", ["JPEG", "PNG", "GIF", "WEBP", "BMP"])
def test_bytes_are_stored_unchanged(store: ImageStore, image_format: str) -> None:
    data = image(image_format)
    stored = store.put(data, "photo")
    assert store.read(stored.sha256) == data
    assert stored.sha256 == sha256(data).hexdigest()
    assert (stored.name, stored.format, stored.n_bytes) == ("photo", image_format, len(data))
    assert (stored.width, stored.height) == (40, 30)


def test_the_format_is_detected_by_content(store: ImageStore, tmp_path: Path) -> None:
    file = tmp_path / "photo.jpg"
    file.write_bytes(image("PNG"))
    stored = store.put_file(file)
    assert (stored.name, stored.format) == ("photo.jpg", "PNG")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"Once upon a time", "not an image in any known format", id="a text"),
        pytest.param(image("JPEG")[:-200], "image file is truncated", id="a truncated JPEG"),
        pytest.param(
            png_header(10_001, 10_000),
            "10001 x 10000 px, more than the 100000000 px allowed",
            id="a little too large",
        ),
    ],
)
def test_a_file_that_is_no_usable_image_is_refused(store, tmp_path, data, message):
    file = tmp_path / "photo.jpg"
    file.write_bytes(data)
    with pytest.raises(ImageError, match=f"photo.jpg: .*{message}"):
        store.put_file(file)
    assert not Path(store.folder).exists()


def test_a_file_above_the_limit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "photo.png"
    file.write_bytes(image("PNG"))
    small = ImageStore(folder=str(tmp_path / "images"), max_bytes=10)
    with pytest.raises(ImageError, match=rf"photo.png: {file.stat().st_size} bytes, more than"):
        small.put_file(file)


def test_each_file_is_stored_or_rejected(store: ImageStore, tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("c.png", "text.png", "a.png", "missing.png")}
    for name in ("c.png", "a.png"):
        files[name].write_bytes(image("PNG"))
    files["text.png"].write_text("No image.")
    stored, rejections = store.put_files(files)
    assert [image.name for image in stored] == ["c.png", "a.png"]
    assert rejections == [
        Rejection(entry="images/text.png", reason="not an image in any known format"),
        Rejection(entry="images/missing.png", reason="cannot be read: No such file or directory"),
    ]


def test_a_preview_marks_a_missing_image(store: ImageStore) -> None:
    stored = store.put(image("PNG"), "a").sha256
    preview = str(question_preview([question(images=(stored, "00ff"))], store)["questions"].value)
    assert preview.count("data:image/jpeg;base64,") == 1
    assert "(cannot be shown)" in preview
