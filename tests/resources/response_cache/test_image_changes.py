"""Responses are asked for again where the decoder shows other pixels, and only there."""

import numpy as np
import pytest
from PIL import Image as PILImage

from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_assets.core.schema.errors import ImageError
from bench_resources.response_cache.image_changes import (
    LOCAL_CHANGES,
    PYTHON_CHANGES,
    SERVER_CHANGES,
    ImageChangeRecorder,
)
from tests.fakes.written_images import animated, corners, numbers, saved, turned

MARK = "images@1"
IMAGES = {
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
    if sha256 not in IMAGES:
        raise ImageError(f"no image {sha256}")
    return IMAGES[sha256]


def request(*names):
    return Request(prompt=Prompt.of("?", *map(Image, names)))


@pytest.mark.parametrize(
    ("new", "otherwise"),
    [
        pytest.param(
            LOCAL_CHANGES, ["a transparent PNG", "a PNG of 16 bits", "floats"], id="on this machine"
        ),
        pytest.param(
            PYTHON_CHANGES,
            ["a turned JPEG", "a transparent PNG", "a PNG of 16 bits", "floats"],
            id="in Python, and for encoders",
        ),
        pytest.param(
            SERVER_CHANGES,
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
def test_only_images_that_were_shown_otherwise_are_marked(new, otherwise):
    shown = ImageChangeRecorder(read, new)
    assert [name for name in IMAGES if shown.particulars(request(name))] == otherwise
    assert shown.particulars(request("a PNG", otherwise[0])) == MARK
    assert shown.particulars(request()) == ""


def test_an_image_that_moves_is_noted_and_earlier_notes_stay():
    requests = [request("a PNG", "a GIF that moves"), request("a PNG")]
    arrivals = iter([(1, Response(text="b")), (0, Response(text="a", note="enlarged"))])
    assert list(ImageChangeRecorder(read, LOCAL_CHANGES).noted(requests, arrivals)) == [
        (1, Response(text="b")),
        (0, Response(text="a", note="enlarged; image 2: only its first frame is shown")),
    ]
