"""What is no response, and that nothing a server sends is an exception."""

import re

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_resources.http.backoff import UNLIMITED_TRIES, Failure
from bench_resources.http.errors import failure
from bench_resources.models.api.engine import FormatOf
from bench_resources.models.api.formats.anthropic import Anthropic
from bench_resources.models.api.formats.gemini import Gemini
from bench_resources.models.api.formats.openai import OpenAI
from bench_resources.models.api.formats.response_body import decode_response as read_body
from tests.resources.models.api.formats.asking import form
from tests.resources.models.api.formats.test_openai import read

APIS = pytest.mark.parametrize("api", [OpenAI, Anthropic, Gemini])


@pytest.mark.parametrize(
    ("body", "what"),
    [
        pytest.param(b"<html>", "not JSON", id="a page"),
        pytest.param(b"", "not JSON", id="nothing"),
        pytest.param({}, "no choices", id="nothing in it"),
        pytest.param({"choices": []}, "no choices", id="no choice"),
        pytest.param({"choices": [{"text": "B"}]}, "no .*message", id="the older API's form"),
        pytest.param({"choices": [{"message": {"content": 5}}]}, "neither", id="a number"),
        pytest.param(
            {"choices": [{"message": {"content": [{"type": "image_url"}]}}]},
            "a part that is not text",
            id="an image",
        ),
        pytest.param(
            {"choices": [{"message": {"content": "B"}, "finish_reason": "error"}]},
            "broken off",
            id="LMDeploy and OpenRouter: an error",
        ),
        pytest.param(
            {"choices": [{"message": {"content": ""}, "finish_reason": "load"}]},
            "broken off",
            id="Ollama: the model was only loaded",
        ),
    ],
)
def test_no_response(body: object, what: str) -> None:
    found = read(body)
    assert isinstance(found, Failure)
    assert found.tries == 2, "half a response may be whole the next time"
    assert not found.refused
    assert re.search(what, found.what)


@pytest.mark.parametrize(
    ("body", "shown", "tries"),
    [
        pytest.param(
            {"error": {"code": 502, "message": "Provider down"}},
            "HTTP 502: Provider down",
            UNLIMITED_TRIES,
            id="OpenRouter: what a provider failed with",
        ),
        pytest.param(
            {"choices": [{"error": {"code": 429, "message": "slow"}, "finish_reason": "error"}]},
            "HTTP 429: slow",
            UNLIMITED_TRIES,
            id="OpenRouter: in a choice",
        ),
        pytest.param(
            {"error": {"code": "400", "message": "maximum context length is 5"}},
            "too long for the model's context (HTTP 400): maximum context length is 5",
            1,
            id="a code that is a text",
        ),
        pytest.param(
            {"object": "error", "message": "maximum context length is 5", "code": 400},
            "too long for the model's context (HTTP 400): maximum context length is 5",
            1,
            id="without an envelope",
        ),
        pytest.param(
            {"error": "busy"}, "an error instead of a response (HTTP 200): busy", 2, id="a text"
        ),
        pytest.param(
            {
                "choices": [
                    {"message": {"content": ""}, "finish_reason": "insufficient_system_resource"}
                ]
            },
            "the response was broken off: finish_reason 'insufficient_system_resource'",
            UNLIMITED_TRIES,
            id="DeepSeek: overloaded in the middle",
        ),
    ],
)
def test_an_error_inside_an_answer_that_looks_well(body: object, shown: str, tries: int) -> None:
    found = read(body)
    assert isinstance(found, Failure)
    assert (str(found)[: len(shown)], found.tries) == (shown, tries)


NAMES = st.sampled_from(
    (
        *("choices", "message", "content", "finish_reason", "usage", "prompt_tokens", "type"),
        *("text", "error", "thinking", "reasoning", "reasoning_details", "refusal", "code"),
        *("detail", "loc", "msg", "completion_tokens_details", "reasoning_tokens", "tool_calls"),
        *("stop_reason", "candidates", "parts", "finishReason", "promptFeedback", "blockReason"),
    )
)
LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False)
WORDS = st.sampled_from(["stop", "length", "text", "thinking", "429", "x"]) | st.text(max_size=5)
JSON = st.recursive(
    LEAVES | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@APIS
@settings(max_examples=40)
@given(JSON, JSON)
def test_no_json_is_an_exception(api: FormatOf, whole: object, inner: object) -> None:
    choice = {"message": inner, "finish_reason": "length"}
    candidate = {"content": {"parts": inner}, "finishReason": "MAX_TOKENS"}
    for body in (
        whole,
        {"choices": whole},
        {"choices": [inner]},
        {"choices": [choice]},
        {"content": whole, "stop_reason": "max_tokens", "usage": inner},
        {"candidates": [candidate], "usageMetadata": whole},
        {"promptFeedback": inner},
    ):
        data = orjson.dumps(body)
        found = read_body(form(api), data, 0.5, {})
        assert isinstance(found, Failure) or isinstance(found.text, str)
        assert failure(500, data, {}).tries


@APIS
@settings(max_examples=40)
@given(st.binary(max_size=80), st.dictionaries(st.sampled_from(["Retry-After"]), st.text()))
def test_no_bytes_are_an_exception(api: FormatOf, data: bytes, headers: dict[str, str]) -> None:
    assert read_body(form(api), data, 0.5, headers)
    assert failure(429, data, headers).wait >= 0
