"""Images reach models and pages upright, whichever of the eight orientations is stored.

A photograph with a colour in each corner is drawn upright, and its pixels are turned by NumPy.
Models get upright pixels; browsers turn images by their EXIF orientation themselves.
"""

import base64
import io
import math
import re

import numpy as np
import pytest
from PIL import ExifTags, Image, ImageColor, ImageOps

from bench_assets.core.schema.chat import Image as ImagePart
from bench_assets.report.site.images import Images
from bench_resources.images.browser_images import browser_image, data_uri
from bench_resources.images.previews import PreviewTable
from bench_resources.images.store import ImageStore
from bench_resources.models.api.formats.base import encode_image
from bench_resources.models.workers.local_model import decode
from tests.fakes.written_images import saved

WIDE, HIGH = 48, 32
CORNERS = ("red", "lime", "blue", "yellow")  # clockwise from the upper left
PIXELS_BY_ORIENTATION = {
    1: lambda pixels: pixels,
    2: np.fliplr,
    3: lambda pixels: np.rot90(pixels, 2),
    4: np.flipud,
    5: lambda pixels: np.swapaxes(pixels, 0, 1),
    6: lambda pixels: np.rot90(pixels, 1),  # to be turned clockwise
    7: lambda pixels: np.rot90(np.swapaxes(pixels, 0, 1), 2),
    8: lambda pixels: np.rot90(pixels, -1),
}


def photograph(orientation, image_format):
    """Encode the photograph with an EXIF orientation, its pixels turned accordingly."""
    upright = Image.new("RGB", (WIDE, HIGH))
    half_width, half_height = WIDE // 2, HIGH // 2
    quarters = ((0, 0), (half_width, 0), (half_width, half_height), (0, half_height))
    for colour, (left, top) in zip(CORNERS, quarters, strict=True):
        upright.paste(colour, (left, top, left + half_width, top + half_height))
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    turned = Image.fromarray(
        np.ascontiguousarray(PIXELS_BY_ORIENTATION[orientation](np.asarray(upright)))
    )
    return saved(turned, image_format, exif=exif)


def decode_pixels(data):
    return Image.open(io.BytesIO(data)).convert("RGB")


def decode_in_browser(data):
    return ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")


def decode_data_uri(uri):
    return base64.b64decode(uri.partition("base64,")[2])


def to_a_server(store, sha256, _):
    _, encoded = encode_image(ImagePart(sha256), store.read)
    return [decode_pixels(base64.b64decode(encoded))]


def to_a_local_model(store, sha256, _):
    return [decode(ImagePart(sha256), store.read(sha256), max_pixels=None)]


def in_the_report(store, sha256, folder):
    image = Images(folder, store).copy([sha256])[sha256]
    assert image is not None
    return [decode_in_browser((folder / name).read_bytes()) for name in image]


def on_annotation_pages(store, sha256, _):
    data, _ = browser_image(store.place, sha256)
    return [decode_in_browser(data)]


def in_label_studio(store, sha256, _):
    return [decode_in_browser(decode_data_uri(data_uri(store.place, sha256)))]


def in_previews(store, sha256, _):
    table = PreviewTable(store, ["id", "images"])
    table.add("q", [sha256], [])
    markdown = str(table.metadata("x")["x"].value)
    (uri,) = re.findall(r"\((data:[^)]+)\)", markdown)
    return [decode_pixels(decode_data_uri(uri))]


DESTINATIONS = (
    to_a_server,
    to_a_local_model,
    in_the_report,
    on_annotation_pages,
    in_previews,
    in_label_studio,
)


@pytest.mark.parametrize("image_format", ["JPEG", "PNG"])
@pytest.mark.parametrize("orientation", PIXELS_BY_ORIENTATION)
@pytest.mark.parametrize("send", DESTINATIONS, ids=lambda send: send.__name__)
def test_an_image_is_upright(tmp_path, send, orientation, image_format):
    store = ImageStore(folder=str(tmp_path / "images"))
    sha256 = store.put(photograph(orientation, image_format), "a").sha256
    for image in send(store, sha256, tmp_path / "out"):
        wide, high = image.size
        assert wide * HIGH == high * WIDE
        pixels = [image.getpixel((int(x * wide), int(y * high))) for x, y in QUARTERS]
        assert [nearest_colour(pixel) for pixel in pixels] == list(CORNERS)


QUARTERS = ((0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75))
RGB = {colour: ImageColor.getrgb(colour) for colour in CORNERS}


def nearest_colour(pixel):
    return min(RGB, key=lambda colour: math.dist(pixel, RGB[colour]))
