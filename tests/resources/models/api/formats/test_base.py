"""What every format sends of an image, and what Anthropic is sent over loopback."""

import base64
from typing import Any

import numpy as np
import pytest
from PIL import Image as PILImage

from bench_assets.core.images.decoding import decode
from bench_assets.core.schema.chat import Image, Prompt, Request
from bench_assets.core.schema.errors import ImageError
from bench_resources.models.api.formats.base import encode_image
from tests.fakes.chat_server import ChatServer
from tests.fakes.server_engines import IMAGES, engine
from tests.fakes.written_images import CORNERS, animated, corners, numbers, saved, turned

CLEAR = PILImage.new("RGBA", (3, 2), (0, 0, 0, 0))


def sent(data):
    media, text = encode_image(Image("00ff"), lambda _: data)
    return media, base64.b64decode(text)


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


PNG = base64.b64encode(IMAGES["png"]).decode()
SOURCE = {"type": "base64", "media_type": "image/png", "data": PNG}
TEXT_AND_IMAGE = [{"type": "text", "text": "Left:"}, {"type": "image", "source": SOURCE}]


def ask(
    monkeypatch: pytest.MonkeyPatch, api: str, prompt: Prompt, **spec: Any
) -> tuple[dict[str, Any], dict[str, str]]:
    """Ask a server with a key; the body and the headers that it gets."""
    monkeypatch.setenv("A_KEY", "sk-1")
    with ChatServer("B") as server:
        asked = engine(server.base_url, format=api, api_key_env="A_KEY", **spec)
        ((_, response),) = asked.stream([Request(prompt=prompt)])
        assert (response.text, response.finish_reason, response.error) == ("B", "stop", "")
        return server.bodies[0], server.headers[0]


@pytest.mark.parametrize(
    ("api", "spec", "body", "headers"),
    [
        pytest.param(
            "anthropic",
            {"extra_body": {"thinking": {"type": "disabled"}}},
            {
                "model": "m",
                "system": [{"type": "text", "text": "Be brief."}],
                "messages": [{"role": "user", "content": TEXT_AND_IMAGE}],
                "max_tokens": 9,
                "temperature": 0.0,
                "thinking": {"type": "disabled"},
            },
            {"x-api-key": "sk-1", "anthropic-version": "2023-06-01"},
            id="Anthropic",
        ),
    ],
)
def test_body(
    monkeypatch: pytest.MonkeyPatch,
    api: str,
    spec: dict[str, Any],
    body: dict[str, Any],
    headers: dict[str, str],
) -> None:
    prompt = Prompt.of("Left:", Image("png"), "", system="Be brief.")
    sent_body, sent_headers = ask(monkeypatch, api, prompt, max_tokens=9, **spec)
    assert sent_body == body
    assert sent_headers.items() >= headers.items()


def test_a_reasoning_model_gets_what_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    body, _ = ask(
        monkeypatch, "anthropic", Prompt.of("?"), omit=["temperature", "top_p"], top_p=0.5
    )
    assert body.keys() - {"model", "messages"} == {"max_tokens"}


def test_a_key_may_be_wanted_under_another_header(monkeypatch: pytest.MonkeyPatch) -> None:
    _, headers = ask(monkeypatch, "anthropic", Prompt.of("?"), key_header="Authorization")
    assert headers["Authorization"] == "Bearer sk-1"
