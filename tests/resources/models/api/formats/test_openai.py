"""How responses are read: text, thought, end and tokens, wherever servers put them."""

from typing import Any

import orjson
import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.http.backoff import Failure
from bench_resources.models.api.formats.openai import OpenAI
from bench_resources.models.api.formats.response_body import decode_response as read_body
from tests.resources.models.api.formats.asking import form
from tests.resources.models.api.stand_ins import completion


def read(body: object) -> Response | Failure:
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    return read_body(form(OpenAI), data, 0.5, {})


def message(end: str | None = "stop", **fields: object) -> Response | Failure:
    raw = completion(end, **fields).raw
    assert raw
    return read(raw)


TOOL_CALL = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


@pytest.mark.parametrize(
    ("end", "fields", "text", "stored_end"),
    [
        pytest.param("stop", {"content": "B"}, "B", "stop", id="a text"),
        pytest.param(None, {"content": "B"}, "B", "", id="without a reason, as Ollama may"),
        pytest.param("eos", {"content": "B"}, "B", "stop", id="Together's word for stop"),
        pytest.param("STOP", {"content": "B"}, "B", "stop", id="in capitals"),
        pytest.param("model_length", {"content": "B"}, "B", "length", id="Mistral's for length"),
        pytest.param("stop", {"content": None}, "", "stop", id="null is an empty text"),
        pytest.param("length", {}, "", "length", id="Gemini: nothing but the cut"),
        *(
            pytest.param(end, {}, "", "content_filter", id=f"Gemini: {end}")
            for end in (
                *("PROHIBITED_CONTENT", "RECITATION", "SPII", "BLOCKLIST", "LANGUAGE", "SAFETY"),
                *("IMAGE_SAFETY", "MODEL_ARMOR", "content_filter: PROHIBITED_CONTENT"),
                *("content_filter: OTHER", "CONTENT_FILTER: SPII", "prohibited_content"),
            )
        ),
        *(
            pytest.param(end, {}, "", "tool_calls", id=f"Gemini: {end}")
            for end in (
                *("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "function_call_filter"),
                *("function_call_filter: MALFORMED_FUNCTION_CALL", "TOO_MANY_TOOL_CALLS"),
            )
        ),
        pytest.param(
            "content_filter: SAFETY", {"content": "A"}, "A", "content_filter", id="half a text"
        ),
        pytest.param("content_filter", {}, "", "content_filter", id="Azure: all of it filtered"),
        pytest.param(
            "tool_calls", {"content": None, "tool_calls": TOOL_CALL}, "", "tool_calls", id="a tool"
        ),
        pytest.param(
            "stop", {"content": None, "refusal": "I can't."}, "I can't.", "refusal", id="a refusal"
        ),
        pytest.param("stop", {"content": "B", "refusal": None}, "B", "stop", id="no refusal"),
        pytest.param(
            "stop",
            {"content": "B", "thinking": "A? B."},
            "<think>A? B.</think>B",
            "stop",
            id="a thought in a field named thinking",
        ),
        pytest.param(
            "stop",
            {"content": "B", "reasoning": None, "reasoning_details": [{"summary": "A? B."}]},
            "<think>A? B.</think>B",
            "stop",
            id="OpenRouter: a summary of a thought",
        ),
        pytest.param(
            "stop",
            {"content": "B", "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]},
            "B",
            "stop",
            id="OpenRouter: a thought that nobody can read",
        ),
        pytest.param(
            "length",
            {"content": "", "reasoning_content": "A or"},
            "<think>A or",
            "length",
            id="a thought that was cut off",
        ),
        pytest.param(
            "length",
            {"content": "The", "reasoning_content": "A or B"},
            "<think>A or B</think>The",
            "length",
            id="a text that was cut off behind a whole thought",
        ),
        pytest.param(
            "stop",
            {"content": None, "reasoning_content": "A"},
            "<think>A</think>",
            "stop",
            id="a thought and then nothing",
        ),
        pytest.param(
            "stop",
            {"content": [{"type": "text", "text": "A "}, {"type": "text", "text": "B"}]},
            "A B",
            "stop",
            id="Mistral: parts that are texts",
        ),
        pytest.param(
            "stop",
            {"content": [{"type": "thinking", "thinking": "A?"}, {"type": "text", "text": "B"}]},
            "<think>A?</think>B",
            "stop",
            id="a part that is a thought",
        ),
        pytest.param(
            "stop",
            {
                "content": [
                    {"type": "reference", "reference_ids": [1]},
                    {"type": "text", "text": "B"},
                ]
            },
            "B",
            "stop",
            id="Mistral: a part that refers to something",
        ),
    ],
)
def test_a_response(end: str | None, fields: dict[str, Any], text: str, stored_end: str) -> None:
    found = message(end, **fields)
    assert found == Response(
        text=text, finish_reason=stored_end, prompt_tokens=7, completion_tokens=3, seconds=0.5
    )


def test_a_hidden_thought_that_was_cut_off_is_one_too() -> None:
    usage = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 9}}
    choice = {"message": {"content": ""}, "finish_reason": "length"}
    found = read({"choices": [choice], "usage": usage})
    assert isinstance(found, Response)
    assert found.text == "<think>"


@pytest.mark.parametrize(
    ("tokens", "count"),
    [
        (3, 3),
        (0, 0),
        (None, None),
        ("3", None),
        (-1, None),
        (3.5, None),
        (True, None),
        (10**12, None),
        (2**63, None),
        ([3], None),
    ],
)
def test_a_number_of_tokens_that_cannot_be_one_is_dropped(
    tokens: object, count: int | None
) -> None:
    choice = {"message": {"content": "B"}, "finish_reason": "stop"}
    outcome = read(
        {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": tokens}}
    )
    assert isinstance(outcome, Response)
    assert (outcome.text, outcome.prompt_tokens, outcome.completion_tokens) == ("B", count, count)


@pytest.mark.parametrize("usage", [None, [], "7", 7, {"prompt_tokens_details": None}])
def test_a_usage_that_is_none_costs_nothing(usage: object) -> None:
    found = read({"choices": [{"message": {"content": "B"}}], "usage": usage})
    assert isinstance(found, Response)
    assert found.prompt_tokens is None
