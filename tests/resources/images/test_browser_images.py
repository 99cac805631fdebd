"""Everything that is shown an image is shown it upright, in all eight orientations.

A photograph with a colour in each corner is drawn upright, and stored turned by NumPy. Models and
exports have to find it upright in the bytes alone; browsers turn what says that it is turned.
"""

import base64
import io

import numpy as np
import pytest
from PIL import Image, ImageColor, ImageOps

from bench_assets.core.schema.chat import Image as ImagePart
from bench_assets.report.site.images import Images
from bench_resources.images.browser_images import browser_image, data_uri
from bench_resources.images.previews import PreviewTable
from bench_resources.images.store import ImageStore
from bench_resources.models.api.formats.base import encode_image
from bench_resources.models.workers.local_model import decode

WIDE, HIGH = 48, 32
CORNERS = ("red", "lime", "blue", "yellow")  # clockwise from the upper left
STORED = {
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
    drawn = Image.new("RGB", (WIDE, HIGH))
    places = ((0, 0), (WIDE // 2, 0), (WIDE // 2, HIGH // 2), (0, HIGH // 2))
    for colour, place in zip(CORNERS, places, strict=True):
        drawn.paste(colour, (*place, place[0] + WIDE // 2, place[1] + HIGH // 2))
    exif = Image.Exif()
    exif[274] = orientation
    file = io.BytesIO()
    turned = Image.fromarray(np.ascontiguousarray(STORED[orientation](np.asarray(drawn))))
    turned.save(file, image_format, exif=exif)
    return file.getvalue()


def opened(data):
    return Image.open(io.BytesIO(data)).convert("RGB")


def in_browser(data):
    return ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")


def to_a_server(store, sha256, _):
    return [opened(base64.b64decode(encode_image(ImagePart(sha256), store.read)[1]))]


def to_a_local_model(store, sha256, _):
    return [decode(ImagePart(sha256), store.read(sha256), None)]


def in_the_report(store, sha256, folder):
    image = Images(folder, store).bring([sha256])[sha256]
    assert image is not None
    return [in_browser((folder / name).read_bytes()) for name in image]


def on_annotation_pages(store, sha256, _):
    return [in_browser(browser_image(store.place, sha256)[0])]


def in_label_studio(store, sha256, _):
    data = data_uri(store.place, sha256).partition("base64,")[2]
    return [in_browser(base64.b64decode(data))]


def in_previews(store, sha256, _):
    page = PreviewTable(store, ["id", "images"])
    page.add("q", [sha256], [])
    text = str(page.metadata("x")["x"].value)
    return [opened(base64.b64decode(text.partition("base64,")[2].partition(")")[0]))]


PLACES = (
    *(to_a_server, to_a_local_model, in_the_report, on_annotation_pages, in_previews),
    in_label_studio,
)


@pytest.mark.parametrize("image_format", ["JPEG", "PNG"])
@pytest.mark.parametrize("orientation", STORED)
@pytest.mark.parametrize("shown", PLACES, ids=lambda place: place.__name__)
def test_an_image_is_upright(tmp_path, shown, orientation, image_format):
    store = ImageStore(folder=str(tmp_path / "images"))
    sha256 = store.put(photograph(orientation, image_format), "a").sha256
    for image in shown(store, sha256, tmp_path / "out"):
        wide, high = image.size
        assert wide * HIGH == high * WIDE
        near = [image.getpixel((int(x * wide), int(y * high))) for x, y in QUARTERS]
        assert [nearest(pixel) for pixel in near] == list(CORNERS)


QUARTERS = ((0.25, 0.25), (0.75, 0.25), (0.75, 0.75), (0.25, 0.75))
RGB = {colour: ImageColor.getrgb(colour) for colour in CORNERS}


def nearest(pixel):
    return min(RGB, key=lambda one: sum(abs(a - b) for a, b in zip(pixel, RGB[one], strict=True)))
