"""What a server is sent of an image: the file where every server shows it alike, else a PNG."""

import base64

import numpy as np
import pytest
from PIL import Image as PILImage

from bench_assets.core.images.decoding import decode
from bench_assets.core.schema.chat import Image
from bench_assets.core.schema.errors import ImageError
from bench_resources.models.api.formats.base import encode_image
from tests.fakes.written_images import CORNERS, animated, corners, numbers, saved, turned

CLEAR = PILImage.new("RGBA", (3, 2), (0, 0, 0, 0))


def sent(data):
    media, text = encode_image(Image("00ff"), lambda _: data)
    return media, base64.b64decode(text)


@pytest.mark.parametrize(
    ("data", "media"),
    [
        pytest.param(saved(corners()), "image/png", id="a PNG"),
        pytest.param(saved(corners().convert("L")), "image/png", id="a grey PNG"),
        pytest.param(saved(corners(), "JPEG"), "image/jpeg", id="a JPEG"),
        pytest.param(turned(1, "JPEG"), "image/jpeg", id="a JPEG that says it is upright"),
        pytest.param(animated("MPO"), "image/jpeg", id="a JPEG with another one behind it"),
    ],
)
def test_a_plain_image_is_sent_as_its_very_bytes(data, media):
    assert sent(data) == (media, data)


@pytest.mark.parametrize(
    ("data", "first_pixel"),
    [
        pytest.param(saved(corners(), "GIF"), CORNERS[0], id="a GIF"),
        pytest.param(saved(corners(), "WEBP", lossless=True), CORNERS[0], id="a WebP"),
        pytest.param(saved(corners(), "BMP"), CORNERS[0], id="a BMP"),
        pytest.param(saved(corners(), "TIFF"), CORNERS[0], id="a TIFF"),
        pytest.param(saved(CLEAR), (255, 255, 255), id="a transparent PNG"),
        pytest.param(turned(3, "PNG"), CORNERS[-1], id="a turned PNG"),
        pytest.param(numbers([32768, 0], np.uint16, "PNG"), (128, 128, 128), id="16 bits"),
        pytest.param(animated("GIF"), (255, 0, 0), id="a GIF that moves, by its first frame"),
        pytest.param(animated("PNG"), (255, 0, 0), id="a PNG that moves, by its first frame"),
        pytest.param(
            saved(PILImage.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG", quality=100),
            (255, 0, 0),
            id="a JPEG of inks",
        ),
    ],
)
def test_any_other_is_sent_as_it_is_seen_here_as_a_png_that_every_server_shows_alike(
    data, first_pixel
):
    media, png = sent(data)
    assert media == "image/png"
    assert sent(png) == (media, png)
    read = decode(png)
    assert (read.format, read.image.getpixel((0, 0))) == ("PNG", first_pixel)
    assert read.image.tobytes() == decode(data).image.tobytes()


def test_a_image_that_does_not_decode_is_named():
    with pytest.raises(ImageError, match="image 00ff: not an image"):
        sent(b"no image")
