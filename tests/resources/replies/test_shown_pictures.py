"""Replies are asked for again where the decoder shows other pixels, and only there."""

import numpy as np
import pytest
from PIL import Image as PILImage

from bench_assets.core.schema.chat import Image, Prompt, Reply, Request
from bench_assets.core.schema.errors import ImageError
from resources.response_cache.image_changes import LOCALLY, OPENED, SERVED, ShownPictures
from tests.core.written_pictures import animated, corners, numbers, saved, turned

MARK = "pictures@1"
PICTURES = {
    "a JPEG": saved(corners(), "JPEG"),
    "a PNG": saved(corners()),
    "a grey PNG": saved(corners().convert("L")),
    "a PNG with a palette": saved(corners().convert("P")),
    "an opaque PNG with alpha": saved(corners().convert("RGBA")),
    "a GIF": saved(corners(), "GIF"),
    "a WebP": saved(corners(), "WEBP"),
    "a turned JPEG": turned(6, "JPEG"),
    "a transparent PNG": saved(PILImage.new("RGBA", (2, 2))),
    "a PNG of 16 bits": saved(PILImage.fromarray(np.array([[0, 9999]], np.uint16))),
    "floats": numbers([0.0, 0.5, 1.0], np.float32),
    "a GIF that moves": animated("GIF"),
    "a JPEG of inks": saved(PILImage.new("CMYK", (2, 2)), "JPEG"),
}


def read(sha256):
    if sha256 not in PICTURES:
        raise ImageError(f"no picture {sha256}")
    return PICTURES[sha256]


def request(*names):
    return Request(prompt=Prompt.of("?", *map(Image, names)))


@pytest.mark.parametrize(
    ("new", "otherwise"),
    [
        pytest.param(
            LOCALLY, ["a transparent PNG", "a PNG of 16 bits", "floats"], id="on this machine"
        ),
        pytest.param(
            OPENED,
            ["a turned JPEG", "a transparent PNG", "a PNG of 16 bits", "floats"],
            id="in Python, and for encoders",
        ),
        pytest.param(
            SERVED,
            [
                "a turned JPEG",
                "a transparent PNG",
                "a PNG of 16 bits",
                "floats",
                "a GIF that moves",
                "a JPEG of inks",
            ],
            id="behind servers, which were sent the files",
        ),
    ],
)
def test_only_pictures_that_were_shown_otherwise_are_marked(new, otherwise):
    shown = ShownPictures(read, new)
    assert [name for name in PICTURES if shown.particulars(request(name))] == otherwise
    assert shown.particulars(request("a PNG", otherwise[0])) == MARK
    assert shown.particulars(request()) == ""


def test_a_picture_that_is_not_there_is_no_particular():
    assert ShownPictures(read, SERVED).particulars(request("gone")) == ""


def test_that_a_picture_moves_is_said_and_what_was_noted_stays():
    requests = [request("a PNG", "a GIF that moves"), request("a PNG")]
    arrivals = iter([(1, Reply(text="b")), (0, Reply(text="a", note="enlarged"))])
    assert list(ShownPictures(read, LOCALLY).noted(requests, arrivals)) == [
        (1, Reply(text="b")),
        (0, Reply(text="a", note="enlarged; picture 2: only its first frame is shown")),
    ]
