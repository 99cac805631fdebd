"""Metadata of image files, written by Pillow and read as text."""

import io

import pytest
from PIL import Image, PngImagePlugin

from bench_assets.core.images.metadata import read_metadata


def written(image_format, **more):
    file = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(file, image_format, **more)
    return file.getvalue()


def chunk(name, text):
    info = PngImagePlugin.PngInfo()
    info.add_text(name, text)
    return info


def exif(number, value):
    found = Image.Exif()
    found[number] = value
    return found


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        pytest.param(written("PNG", pnginfo=chunk("Note", "B")), "Note", "B", id="a text chunk"),
        pytest.param(
            written("JPEG", exif=exif(0x010E, "a dog")), "ImageDescription", "a dog", id="EXIF"
        ),
        pytest.param(written("JPEG", comment=b"C is right"), "comment", "C is right", id="comment"),
        pytest.param(written("PNG", dpi=(72, 72)), "dpi", "72", id="resolution"),
    ],
)
def test_metadata_is_read_by_name(data, name, text):
    assert text in read_metadata(data)[name]


def test_a_file_without_metadata_or_that_is_no_image_has_none():
    assert read_metadata(written("PNG")) == {}
    assert read_metadata(b"no image") == {}
