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

TRANSPARENT = PILImage.new("RGBA", (3, 2), (0, 0, 0, 0))


def encode(data: bytes) -> tuple[str, bytes]:
    """The media type and the bytes that a server gets for an image."""
    media_type, text = encode_image(Image("00ff"), lambda _: data)
    return media_type, base64.b64decode(text)


@pytest.mark.parametrize(
    ("data", "first_pixel"),
    [
        pytest.param(saved(corners(), "GIF"), CORNERS[0], id="a GIF"),
        pytest.param(saved(corners(), "WEBP", lossless=True), CORNERS[0], id="a WebP"),
        pytest.param(saved(corners(), "BMP"), CORNERS[0], id="a BMP"),
        pytest.param(saved(corners(), "TIFF"), CORNERS[0], id="a TIFF"),
        pytest.param(saved(TRANSPARENT), (255, 255, 255), id="a transparent PNG"),
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
def test_an_image_that_servers_may_show_otherwise_is_sent_as_a_png_of_its_decoded_pixels(
    data: bytes, first_pixel: tuple[int, int, int]
) -> None:
    media_type, png = encode(data)

    assert media_type == "image/png"
    sent_image = decode(png)
    assert (sent_image.format, sent_image.image.getpixel((0, 0))) == ("PNG", first_pixel)
    assert sent_image.image.tobytes() == decode(data).image.tobytes()
    assert encode(png) == (media_type, png)  # such a PNG is sent unchanged


def test_an_image_that_does_not_decode_is_named_in_the_error() -> None:
    with pytest.raises(ImageError, match="image 00ff: not an image"):
        encode(b"no image")


PNG = base64.b64encode(IMAGES["png"]).decode()
SOURCE = {"type": "base64", "media_type": "image/png", "data": PNG}
TEXT_AND_IMAGE = [{"type": "text", "text": "Left:"}, {"type": "image", "source": SOURCE}]


def send_to_anthropic(
    monkeypatch: pytest.MonkeyPatch, prompt: Prompt, **spec: Any
) -> tuple[dict[str, Any], dict[str, str]]:
    """Send a prompt with a key; return the body and the headers that the server gets."""
    monkeypatch.setenv("A_KEY", "sk-1")
    with ChatServer("B") as server:
        model = engine(server.base_url, format="anthropic", api_key_env="A_KEY", **spec)
        ((_, response),) = model.stream([Request(prompt=prompt)])
        assert (response.text, response.finish_reason, response.error) == ("B", "stop", "")
        return server.bodies[0], server.headers[0]


def test_anthropic_gets_the_system_prompt_apart_from_the_messages(monkeypatch):
    prompt = Prompt.of("Left:", Image("png"), "", system="Be brief.")
    thinking = {"type": "disabled"}

    body, headers = send_to_anthropic(
        monkeypatch, prompt, max_tokens=9, extra_body={"thinking": thinking}
    )

    assert body == {
        "model": "m",
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [{"role": "user", "content": TEXT_AND_IMAGE}],
        "max_tokens": 9,
        "temperature": 0.0,
        "thinking": thinking,
    }
    assert headers["x-api-key"] == "sk-1"
    assert headers["anthropic-version"] == "2023-06-01"


def test_omitted_settings_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    body, _ = send_to_anthropic(
        monkeypatch, Prompt.of("?"), omit=["temperature", "top_p"], top_p=0.5
    )
    assert body.keys() == {"model", "messages", "max_tokens"}


def test_the_key_is_sent_in_the_header_of_the_section(monkeypatch: pytest.MonkeyPatch) -> None:
    _, headers = send_to_anthropic(monkeypatch, Prompt.of("?"), key_header="Authorization")
    assert headers["Authorization"] == "Bearer sk-1"
