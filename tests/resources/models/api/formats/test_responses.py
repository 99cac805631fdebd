"""How the responses of Anthropic's Messages and Gemini's generateContent are read."""

import re

import orjson
import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure
from bench_resources.models.api.engine import FormatOf
from bench_resources.models.api.formats.anthropic import Anthropic
from bench_resources.models.api.formats.gemini import Gemini
from bench_resources.models.api.formats.response_body import decode_response
from tests.resources.models.api.formats.asking import form

TEXT = {"type": "text", "text": "B"}
THINKING = {"type": "thinking", "thinking": "A? B.", "signature": "c2ln"}
HIDDEN = {"type": "thinking", "thinking": "", "signature": "c2ln"}
REDACTED = {"type": "redacted_thinking", "data": "c2ln"}
TOOL = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
THOUGHT = {"text": "A? B.", "thought": True}


def read_as(api: FormatOf, body: object) -> Response | Failure:
    return decode_response(form(api), orjson.dumps(body), 0.5, {})


def message(end: str | None, *blocks: object) -> dict[str, object]:
    return {"type": "message", "content": list(blocks), "stop_reason": end}


def candidate(end: str | None, *parts: object, **usage: int) -> dict[str, object]:
    one = {"content": {"role": "model", "parts": list(parts)}, "finishReason": end}
    return {"candidates": [one], "usageMetadata": usage}


@pytest.mark.parametrize(
    ("body", "text", "end"),
    [
        pytest.param(message("end_turn", TEXT), "B", "stop", id="a text"),
        pytest.param(message("stop_sequence", TEXT, TEXT), "BB", "stop", id="two texts"),
        pytest.param(message("end_turn"), "", "stop", id="nothing, and that was all"),
        pytest.param(
            message("end_turn", THINKING, TEXT), "<think>A? B.</think>B", "stop", id="a thought"
        ),
        pytest.param(message("end_turn", HIDDEN, TEXT), "B", "stop", id="a thought not shown"),
        pytest.param(message("end_turn", REDACTED, TEXT), "B", "stop", id="a redacted thought"),
        pytest.param(message("max_tokens", TEXT), "B", "length", id="a text that was cut off"),
        pytest.param(
            message("max_tokens", THINKING), "<think>A? B.", "length", id="a thought cut off"
        ),
        pytest.param(
            message("max_tokens", HIDDEN), "<think>", "length", id="a hidden thought cut off"
        ),
        pytest.param(
            message("model_context_window_exceeded", TEXT), "B", "length", id="no more room"
        ),
        pytest.param(message("refusal", TEXT), "B", "refusal", id="a refusal in words"),
        pytest.param(message("tool_use", TEXT, TOOL), "B", "tool_calls", id="a tool"),
    ],
)
def test_a_response_of_anthropic(body: object, text: str, end: str) -> None:
    outcome = read_as(Anthropic, body)
    assert isinstance(outcome, Response)
    assert (outcome.text, outcome.finish_reason, outcome.seconds) == (text, end, 0.5)


@pytest.mark.parametrize(
    ("body", "text", "end"),
    [
        pytest.param(candidate("STOP", {"text": "A "}, {"text": "B"}), "A B", "stop", id="texts"),
        pytest.param(
            candidate("STOP", THOUGHT, {"text": "B"}),
            "<think>A? B.</think>B",
            "stop",
            id="the summary of a thought",
        ),
        pytest.param(
            candidate("STOP", {"text": "B"}, {"thoughtSignature": "c2ln"}),
            "B",
            "stop",
            id="a signature in a part of its own",
        ),
        pytest.param(
            candidate("STOP", {"text": "B"}, thoughtsTokenCount=9),
            "B",
            "stop",
            id="a hidden thought",
        ),
        pytest.param(candidate("MAX_TOKENS", {"text": "B"}), "B", "length", id="cut off"),
        pytest.param(
            candidate("MAX_TOKENS", thoughtsTokenCount=9),
            "<think>",
            "length",
            id="a hidden thought that was cut off",
        ),
        pytest.param(
            candidate("MAX_TOKENS", THOUGHT), "<think>A? B.", "length", id="a thought cut off"
        ),
        pytest.param(
            {"candidates": [{"finishReason": "SAFETY"}]}, "", "content_filter", id="blocked"
        ),
        pytest.param(
            candidate("RECITATION", {"text": "B"}), "B", "content_filter", id="too well known"
        ),
        pytest.param(
            {"candidates": [{"finishReason": "STOP", "content": {"role": "model"}}]},
            "",
            "stop",
            id="nothing, and that was all",
        ),
        pytest.param(
            {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]},
            "",
            "tool_calls",
            id="a tool that was called wrongly",
        ),
        pytest.param(
            {"promptFeedback": {"blockReason": "SAFETY"}}, "", "content_filter", id="no candidate"
        ),
    ],
)
def test_a_response_of_gemini(body: object, text: str, end: str) -> None:
    outcome = read_as(Gemini, body)
    assert isinstance(outcome, Response)
    assert (outcome.text, outcome.finish_reason, outcome.seconds) == (text, end, 0.5)


@pytest.mark.parametrize(
    ("api", "body", "what"),
    [
        pytest.param(Anthropic, {"stop_reason": "end_turn"}, "no content", id="no blocks"),
        pytest.param(Anthropic, message(None, TEXT), "stop_reason is not a text", id="no end"),
        pytest.param(Anthropic, message("pause_turn", TEXT), "'pause_turn'", id="a pause"),
        pytest.param(
            Anthropic,
            message("end_turn", {"type": "image"}),
            "a part that is not text",
            id="an image",
        ),
        pytest.param(
            Anthropic,
            message("end_turn", {"type": "text"}),
            "a part that is not text",
            id="no text",
        ),
        pytest.param(Gemini, {"candidates": []}, "no candidates", id="no candidate"),
        pytest.param(Gemini, {"promptFeedback": {}}, "no candidates", id="and not blocked"),
        pytest.param(
            Gemini, candidate(None, {"text": "B"}), "finishReason is not a text", id="not finished"
        ),
        pytest.param(Gemini, candidate("OTHER", {"text": "B"}), "'OTHER'", id="who knows why"),
        pytest.param(
            Gemini, {"candidates": [{"finishReason": "STOP"}]}, "no .*content", id="no parts"
        ),
        pytest.param(
            Gemini,
            candidate("STOP", {"inlineData": {"mimeType": "image/png", "data": ""}}),
            "a part that is not text",
            id="an image of Gemini",
        ),
        pytest.param(
            Gemini,
            {"candidates": [{"finishReason": "STOP", "content": {"parts": "B"}}]},
            "parts is not a list",
            id="a text for the parts",
        ),
    ],
)
def test_no_response(api: FormatOf, body: object, what: str) -> None:
    outcome = read_as(api, body)
    assert isinstance(outcome, Failure)
    assert (outcome.tries, outcome.refused) == (2, False)
    assert re.search(what, outcome.what)


@pytest.mark.parametrize("api", [Anthropic, Gemini])
def test_an_error_inside_200_is_read_as_one(api: FormatOf) -> None:
    outcome = read_as(api, {"error": {"code": 503, "message": "overloaded"}})
    assert isinstance(outcome, Failure)
    assert (str(outcome), outcome.tries) == ("HTTP 503: overloaded", UNLIMITED_TRIES)


@pytest.mark.parametrize(
    ("api", "body", "tokens"),
    [
        pytest.param(
            Anthropic,
            {
                **message("end_turn", TEXT),
                "usage": {
                    "input_tokens": 1,
                    "cache_creation_input_tokens": 2,
                    "cache_read_input_tokens": 4,
                    "output_tokens": 3,
                },
            },
            (7, 3),
            id="Anthropic: what a cache was filled with and read from was read",
        ),
        pytest.param(Anthropic, message("end_turn", TEXT), (None, None), id="Anthropic: untold"),
        pytest.param(
            Gemini,
            candidate("STOP", {"text": "B"}, promptTokenCount=7, candidatesTokenCount=1),
            (7, 1),
            id="Gemini",
        ),
        pytest.param(
            Gemini,
            candidate("MAX_TOKENS", promptTokenCount=7, thoughtsTokenCount=2),
            (7, 2),
            id="Gemini: thoughts are paid for, and nought is left out",
        ),
        pytest.param(Gemini, candidate("STOP", {"text": "B"}), (None, None), id="Gemini: untold"),
    ],
)
def test_tokens(api: FormatOf, body: object, tokens: tuple[int | None, int | None]) -> None:
    outcome = read_as(api, body)
    assert isinstance(outcome, Response)
    assert (outcome.prompt_tokens, outcome.completion_tokens) == tokens
