"""What every format sends of an image, and how Anthropic and Gemini are reached over loopback."""

import base64
from typing import Any

import numpy as np
import pytest
from PIL import Image as PILImage

from bench_assets.core.images.decoding import decode
from bench_assets.core.schema.chat import Image
from bench_assets.core.schema.errors import ImageError, ModelError
from bench_resources.models.api.formats.base import encode_image
from tests.fakes.chat_server import Answer
from tests.fakes.written_images import CORNERS, animated, corners, numbers, saved, turned
from tests.resources.models.api.formats import apis
from tests.resources.models.api.formats.asking import APIS, IMAGES, ask, image, request_of

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


EACH = pytest.mark.parametrize("api", APIS)


@EACH
def test_a_question_with_images_is_taken_and_its_response_read(api: str) -> None:
    question = request_of(*map(Image, IMAGES), "Which?", system="Be brief.")
    (response,), _ = ask(api, question, temperature=0.5, top_p=0.9)
    assert (response.text, response.finish_reason, response.error) == ("B", "stop", "")
    assert (response.prompt_tokens, response.completion_tokens) == (7, 3)


BASE64 = base64.b64encode(image("PNG")).decode()


@pytest.mark.parametrize(
    ("api", "spec", "body"),
    [
        pytest.param(
            "anthropic",
            {"max_tokens": 9, "extra_body": {"thinking": {"type": "disabled"}}},
            {
                "model": "m",
                "system": [{"type": "text", "text": "Be brief."}],
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "Left:"},
                            {
                                "type": "image",
                                "source": {
                                    "type": "base64",
                                    "media_type": "image/png",
                                    "data": BASE64,
                                },
                            },
                        ],
                    }
                ],
                "max_tokens": 9,
                "temperature": 0.0,
                "thinking": {"type": "disabled"},
            },
            id="Anthropic",
        ),
        pytest.param(
            "gemini",
            {
                "max_tokens": 9,
                "seed": 4,
                "extra_body": {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
            },
            {
                "systemInstruction": {"parts": [{"text": "Be brief."}]},
                "contents": [
                    {
                        "role": "user",
                        "parts": [
                            {"text": "Left:"},
                            {"inlineData": {"mimeType": "image/png", "data": BASE64}},
                        ],
                    }
                ],
                "generationConfig": {
                    "maxOutputTokens": 9,
                    "temperature": 0.0,
                    "seed": 4,
                    "thinkingConfig": {"thinkingBudget": 0},
                },
            },
            id="Gemini: further fields of the configuration are put into ours",
        ),
    ],
)
def test_body(api: str, spec: dict[str, Any], body: dict[str, Any]) -> None:
    _, server = ask(api, request_of("Left:", Image("PNG"), system="Be brief."), **spec)
    assert server.bodies == [body]


@pytest.mark.parametrize(
    ("api", "fields"),
    [("anthropic", {"max_tokens"}), ("gemini", set())],
    ids=["Anthropic wants a length", "Gemini wants nothing"],
)
def test_a_reasoning_model_gets_what_it_takes(api: str, fields: set[str]) -> None:
    omit = ["temperature", "top_p"] + ["max_tokens"] * (api == "gemini")
    (response,), server = ask(api, request_of("?"), omit=omit, top_p=0.5)
    (body,) = server.bodies
    assert not response.error
    sent = body if api == "anthropic" else body["generationConfig"]
    assert sent.keys() - {"model", "messages"} == fields


@EACH
def test_a_wrong_key_is_refused_at_once_and_not_shown(api: str) -> None:
    with pytest.raises(ModelError, match="set api_key_env to") as refused:
        ask(api, request_of("?"), key="sk-2")
    assert "sk-2" not in str(refused.value)


def test_a_key_may_be_wanted_under_another_header() -> None:
    with pytest.raises(ModelError):
        ask("gemini", request_of("?"), key_header="Authorization")


TOO_LONG = {
    "anthropic": "prompt is too long: 5000 tokens > 4096 maximum",
    "gemini": "The input token count (5000) exceeds the maximum number of tokens allowed (4096).",
}


@EACH
def test_an_error_of_one_request_is_reported_and_sent_once(api: str) -> None:
    long = apis.refusal(api, 400, "invalid_request_error", TOO_LONG[api])
    (first, second), server = ask(
        api, request_of("long"), request_of("?"), first=(long,), concurrency=1
    )
    assert first.error == f"too long for the model's context (HTTP 400): {TOO_LONG[api]}"
    assert (second.text, server.n_requests) == ("B", 2)


def test_a_rate_limit_of_anthropic_is_waited_for_as_long_as_it_says() -> None:
    limit = apis.whole(
        {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}},
        429,
        **{"retry-after": "0.3"},
    )
    (response,), server = ask("anthropic", request_of("?"), first=(limit,))
    assert response.text == "B"
    assert server.times[1] - server.times[0] >= 0.3


def test_a_rate_limit_of_gemini_is_waited_for_as_long_as_it_says() -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.3s"}
    words = (
        "You exceeded your current quota, please check your plan and billing details. For more"
        " information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."
    )
    limit = apis.refusal("gemini", 429, "RESOURCE_EXHAUSTED", words, details=[info])
    (response,), server = ask("gemini", request_of("?"), first=(limit,))
    assert response.text == "B"
    assert server.times[1] - server.times[0] >= 0.3


@pytest.mark.parametrize(
    "limit",
    [
        pytest.param(
            apis.refusal(
                "anthropic",
                429,
                "rate_limit_error",
                "This request would exceed your limit.",
                details={"error_code": "enforced_spend_limit_reached"},
            ),
            id="the most that may be spent in a month",
        ),
        pytest.param(
            apis.refusal(
                "anthropic",
                400,
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API.",
            ),
            id="no credit",
        ),
    ],
)
def test_an_account_without_money_is_not_tried_again(limit: Answer) -> None:
    with pytest.raises(ModelError, match="no credit left"):
        ask("anthropic", request_of("?"), first=(limit,))


BLOCKED = {
    "anthropic": apis.whole(
        {
            "type": "message",
            "content": [],
            "stop_reason": "refusal",
            "usage": {"input_tokens": 7, "output_tokens": 1},
        }
    ),
    "gemini": apis.whole(
        {
            "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
            "usageMetadata": {"promptTokenCount": 7, "totalTokenCount": 7},
        }
    ),
}


@EACH
def test_what_is_blocked_is_a_refusal_and_no_error(api: str) -> None:
    (response,), server = ask(api, request_of("?"), first=(BLOCKED[api],))
    kind = {"anthropic": "refusal", "gemini": "content_filter"}[api]
    assert (response.text, response.finish_reason, response.error) == ("", kind, "")
    assert (response.prompt_tokens, server.n_requests) == (7, 1)
    assert response.completion_tokens in (0, 1), "counted, so that a budget can be kept"
