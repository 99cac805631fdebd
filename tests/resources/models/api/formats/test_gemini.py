"""What is not certainly a response is that request's error, in whatever way it is odd."""

import re

import orjson
import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.http.backoff import Failure
from bench_resources.models.api.engine import FormatOf
from bench_resources.models.api.formats.anthropic import Anthropic
from bench_resources.models.api.formats.gemini import Gemini
from bench_resources.models.api.formats.openai import OpenAI
from bench_resources.models.api.formats.response_body import decode_response
from tests.resources.models.api.formats.asking import form

TOOL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def choice(message: object, end: object = "stop", **more: object) -> dict[str, object]:
    return {"index": 0, "message": message, "finish_reason": end, **more}


def one(message: object, end: object = "stop", **more: object) -> dict[str, object]:
    return {"choices": [choice(message, end)], **more}


def anthropic(**more: object) -> dict[str, object]:
    text = [{"type": "text", "text": "B"}]
    return {"type": "message", "content": text, "stop_reason": "end_turn", **more}


def gemini(**more: object) -> dict[str, object]:
    return {"content": {"parts": [{"text": "B"}]}, "finishReason": "STOP", **more}


def read_as(body: object, api: FormatOf = OpenAI) -> Response | Failure:
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    return decode_response(form(api), data, 0.5, {})


ANSWER = {"role": "assistant", "content": "B"}
TWICE = b'{"choices":[{"message":{"content":"A","content":"B"},"finish_reason":"stop"}]}'


@pytest.mark.parametrize(
    ("body", "what"),
    [
        pytest.param(
            {"choices": [{"error": {"code": 502}, "message": ANSWER, "finish_reason": "stop"}]},
            "HTTP 502",
            id="an error beside a text",
        ),
        pytest.param(one({"error": {"message": "no"}, "content": "B"}), "no", id="in the message"),
        pytest.param(one({"content": "half"}, "abort"), "broken off", id="aborted in the middle"),
        pytest.param(one({}), "no .*content", id="no content"),
        pytest.param(one({"content": []}), "no .*content", id="no parts"),
        pytest.param(one({"content": ["B"]}), "not text", id="a part that is not told what it is"),
        pytest.param(one({"content": ""}, None), "neither a text nor", id="nothing, and no reason"),
        pytest.param(one({"content": "B", "role": "user"}), "role", id="what the user said"),
        pytest.param(one("B"), "no .*message", id="a text for the message"),
        pytest.param(one(ANSWER, "done"), "broken off", id="a reason that nobody documents"),
        pytest.param(one(ANSWER, "image_filter: OTHER"), "broken off", id="a filter of its own"),
        pytest.param(one(ANSWER, object="chat.completion.chunk"), "chunk", id="part of a stream"),
        pytest.param({"choices": [choice(ANSWER, index=1)]}, "index", id="the second choice"),
        pytest.param({"choices": [choice(ANSWER)] * 2}, "2 choices", id="two first choices"),
        pytest.param([one(ANSWER)], "no choices", id="a list around it"),
        pytest.param(TWICE, "another value", id="a field that is told twice"),
        pytest.param(b'{"choices":[{"message":{"content":"\\ud83d"}}]}', "not JSON", id="half"),
        pytest.param(b'{"choices":' * 900 + b"1" + b"}" * 900, "too deeply", id="nested deeply"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000, "not JSON", id="100,000 brackets"),
        pytest.param(b'data: {"choices":[]}\n\ndata: [DONE]\n\n', "not JSON", id="a stream"),
        pytest.param(orjson.dumps(one(ANSWER)) * 2, "not JSON", id="two bodies in one"),
        pytest.param(orjson.dumps(one(ANSWER))[:-1], "not JSON", id="cut short"),
    ],
)
def test_no_response_of_openai(body: object, what: str) -> None:
    outcome = read_as(body)
    assert isinstance(outcome, Failure)
    assert re.search(what, str(outcome))
    assert not outcome.refused


@pytest.mark.parametrize(
    ("api", "body", "what"),
    [
        pytest.param(Anthropic, anthropic(type="completion"), "type", id="the older API's"),
        pytest.param(Anthropic, anthropic(role="user"), "role", id="Anthropic: the user's"),
        pytest.param(Gemini, {"candidates": [gemini(index=1)]}, "index", id="the second candidate"),
        pytest.param(Gemini, {"candidates": [gemini()] * 2}, "2 candidates", id="two first ones"),
        pytest.param(
            Gemini,
            {"candidates": [gemini(content={"role": "user", "parts": [{"text": "B"}]})]},
            "role",
            id="Gemini: the user's",
        ),
        pytest.param(
            Gemini,
            {"candidates": [{"finishReason": "SAFETY", "content": "B"}]},
            "content",
            id="blocked, and a text where its parts should be",
        ),
    ],
)
def test_no_response_of_the_other_apis(api: FormatOf, body: object, what: str) -> None:
    outcome = read_as(body, api)
    assert isinstance(outcome, Failure)
    assert re.search(what, str(outcome))


@pytest.mark.parametrize(
    ("body", "text", "end"),
    [
        pytest.param(one({"content": "", "refusal": "No."}), "No.", "refusal", id="a refusal"),
        pytest.param(one({"content": "B", "refusal": "No."}), "B", "refusal", id="with a text"),
        pytest.param(one({"content": None}, "refusal"), "", "refusal", id="by its reason"),
        pytest.param(
            one({"content": "The", "refusal": "No."}, "content_filter"),
            "The",
            "content_filter",
            id="a filter's stop in the middle counts as far as it came",
        ),
        pytest.param(
            one({"content": None, "tool_calls": [TOOL]}), "", "tool_calls", id="only a call"
        ),
        pytest.param(
            {"choices": [choice(ANSWER), choice({"content": "C"}, index=1)]},
            "B",
            "stop",
            id="the first of two, where they are numbered",
        ),
        pytest.param(
            one({"content": "a\0b\x1b[2J", "role": ""}),
            "a\0b\x1b[2J",
            "stop",
            id="signs that nobody sees are kept",
        ),
        pytest.param(
            b"\xef\xbb\xbf" + orjson.dumps(one(ANSWER)), "B", "stop", id="a mark of byte order"
        ),
        pytest.param(
            b'{"id":1,"id":1,"choices":[{"message":{"content":"\\u0022B"},"finish_reason":"stop"}]}',
            '"B',
            "stop",
            id="a field that says the same twice",
        ),
    ],
)
def test_a_response_is_one_all_the_same(body: object, text: str, end: str) -> None:
    outcome = read_as(body)
    assert isinstance(outcome, Response)
    assert (outcome.text, outcome.finish_reason) == (text, end)


@pytest.mark.parametrize(
    "tokens",
    [b"1180591620717411303424", b"1e300", b'{"a": 1}', b"[[[]]]", b"-0.0", b"12.0", b"false"],
)
def test_a_number_of_tokens_that_is_none_is_left_out(tokens: bytes) -> None:
    usage = b'{"prompt_tokens":%b,"completion_tokens":3}' % tokens
    outcome = read_as(orjson.dumps(one(ANSWER))[:-1] + b',"usage":%b}' % usage)
    assert isinstance(outcome, Response)
    assert (outcome.text, outcome.prompt_tokens, outcome.completion_tokens) == ("B", None, 3)
