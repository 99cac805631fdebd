"""A thought that a server keeps apart is taken off again, whatever it speaks of: just it."""

import logging
import re
import time

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_assets.core.reading.reasoning import ANSWERS, THOUGHTS, Tags, split_reasoning
from bench_assets.core.schema.chat import Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure
from bench_resources.http.errors import failure
from bench_resources.models.api.engine import FormatOf
from bench_resources.models.api.formats.anthropic import Anthropic
from bench_resources.models.api.formats.base import ApiFormat
from bench_resources.models.api.formats.gemini import Gemini
from bench_resources.models.api.formats.openai import OpenAI
from bench_resources.models.api.formats.response_body import (
    ServedModelCheck,
    decode_response,
    prepend_reasoning,
)
from bench_resources.models.api.formats.response_body import decode_response as read_body
from tests.fakes.chat_server import Answer, ChatServer
from tests.resources.models.api.asking import ask, engine, read_image, requests_for
from tests.resources.models.api.formats.apis import whole
from tests.resources.models.api.formats.asking import form
from tests.resources.models.api.formats.test_openai import read
from tests.resources.models.api.formats.test_responses import candidate, message

MARKS = sorted({mark for form in (*THOUGHTS, *ANSWERS) for mark in (form.opening, form.closing)})
OWN = pytest.mark.parametrize(
    "tags",
    [
        pytest.param(None, id="the usual tags"),
        pytest.param(("<reflect>", "</reflect>"), id="tags of its own"),
        pytest.param(("{", "}"), id="tags of one character"),
        pytest.param(("|||", "|||"), id="one mark for both"),
        pytest.param(("[[", "]]"), id="tags that end as they begin"),
        pytest.param(("", "</reflect>"), id="a tag that only closes"),
    ],
)
AWKWARD = ("{0}", "A {0} then B", "{0}{0}{0}", "see {0}\nThe answer is (A)\nNo, wait.", "x {0}  ")


def without_blanks(text: str) -> str:
    return re.sub(r"\s+|U\+007[BD]|[{}]", "", text)


@OWN
@pytest.mark.parametrize("mark", [*MARKS, "<reflect>", "</reflect>", "{", "}", "|||", "||||", "]"])
def test_a_thought_that_speaks_of_marks_is_taken_off(mark: str, tags: Tags | None) -> None:
    for thought in AWKWARD:
        written = thought.format(mark)
        parts = split_reasoning(prepend_reasoning(written, "B", tags), tags)
        assert (parts.answer, parts.finished) == ("B", True)
        assert without_blanks(parts.thought) == without_blanks(written), "nothing of it is lost"


@OWN
@pytest.mark.parametrize("mark", [*MARKS, "<answer>A</answer>", "<reflect>", "</reflect>", "}"])
def test_a_thought_that_was_cut_off_is_no_answer(mark: str, tags: Tags | None) -> None:
    for thought in AWKWARD:
        written = thought.format(mark)
        text = prepend_reasoning(written, "", tags, cut_off=True)
        response = Response(text=text, finish_reason="length", thinking_tags=tags)
        assert response.said.answer == ""
        assert response.no_answer
        assert without_blanks(response.said.thought) == without_blanks(written)


@settings(max_examples=200)
@given(st.lists(st.sampled_from([*MARKS, *"<>/think[] \nA", "</", "k>"])).map("".join))
def test_any_thought_is_taken_off(thought: str) -> None:
    assert split_reasoning(prepend_reasoning(thought or "A", "B")).answer == "B"


def test_what_the_thought_says_otherwise_stays_as_it_is() -> None:
    thought = "Mind </Think>, [THINK], <answer>A</answer> and analysis < /think>."
    assert prepend_reasoning(thought, "B") == f"<think>{thought}</think>B"


@pytest.mark.parametrize(
    ("form", "body"),
    [
        pytest.param(
            OpenAI,
            {
                "choices": [
                    {
                        "message": {"content": "B", "reasoning_content": "</r> or </think>: A."},
                        "finish_reason": "stop",
                    }
                ]
            },
            id="OpenAI",
        ),
        pytest.param(
            Anthropic,
            message(
                "end_turn",
                {"type": "thinking", "thinking": "</r> or </think>: A."},
                {"type": "text", "text": "B"},
            ),
            id="Anthropic",
        ),
        pytest.param(
            Gemini,
            candidate("STOP", {"text": "</r> or </think>: A.", "thought": True}, {"text": "B"}),
            id="Gemini",
        ),
    ],
)
@pytest.mark.parametrize("tags", [None, ("<r>", "</r>")], ids=["the usual tags", "its own"])
def test_every_api_keeps_a_thought_out_of_the_answer(
    form: type[OpenAI] | type[Anthropic] | type[Gemini], body: object, tags: Tags | None
) -> None:
    spec = ServerSpec(kind="server", base_url="http://s/v1", model="m", thinking_tags=tags)
    made: ApiFormat = form(spec, read_image)
    found = decode_response(made, orjson.dumps(body), 0.5, {})
    assert isinstance(found, Response)
    assert split_reasoning(found.text, tags).answer == "B"


@pytest.mark.parametrize("part", ["<think>", "</think>", "<", "</answer>", "<think></think>"])
def test_long_thoughts_take_time_in_proportion(part: str) -> None:
    thought = part * (100_000 // len(part))
    begun = time.process_time()
    split_reasoning(prepend_reasoning(thought, "B"))
    split_reasoning(prepend_reasoning(thought, "", cut_off=True))
    assert time.process_time() - begun < 2.0


# Who answered stands beside a response, and is said once where it is another than was asked.


def naming(model: object) -> Answer:
    choice = {"index": 0, "message": {"content": "B"}, "finish_reason": "stop"}
    return whole({"model": model, "choices": [choice]})


@pytest.mark.parametrize(
    ("requested", "answered", "served", "is_logged"),
    [
        pytest.param("gpt-4o", "gpt-4o", "gpt-4o", False, id="the same"),
        pytest.param("q", "q@main", "q@main", False, id="a revision of transformers serve"),
        pytest.param("gpt-4o", None, "", False, id="none is named"),
        pytest.param("gpt-4o", "gpt-4o-2024-08-06", "gpt-4o-2024-08-06", False, id="a date"),
        pytest.param("gpt-4", "gpt-4-0613", "gpt-4-0613", False, id="a short date"),
        pytest.param("llama3", "llama3:latest", "llama3:latest", False, id="the latest"),
        pytest.param("c-latest", "c-20241022", "c-20241022", False, id="what is the latest"),
        pytest.param("openai/gpt-4o", "gpt-4o", "gpt-4o", False, id="without its folder"),
        pytest.param("gpt-4o", "gpt-4o-mini", "gpt-4o-mini", True, id="a smaller one"),
        pytest.param("a-2024-05-13", "a-2024-08-06", "a-2024-08-06", True, id="another date"),
        pytest.param("big", "small", "small", True, id="another"),
        pytest.param("big", "small\x1b[2J\n", "small[2J", True, id="what cannot be seen is cut"),
        pytest.param("big", "x" * 10**6, "x" * 100, True, id="as is what is too long"),
    ],
)
def test_who_answered(
    caplog: pytest.LogCaptureFixture, requested: str, answered: str, served: str, is_logged: bool
) -> None:
    spec = {"kind": "server", "base_url": "http://s/v1", "model": requested}
    answering = ServedModelCheck(ServerSpec.model_validate(spec))
    with caplog.at_level(logging.WARNING, "bench_assets.server"):
        found = {answering.identity(answered) for _ in range(3)}
    assert found == {served}
    assert [record.getMessage() for record in caplog.records] == (
        [f"requested the model {requested}, answered by {served}"] if is_logged else []
    )


def test_it_goes_with_the_response_and_is_logged_once_for_many(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with ChatServer(lambda _: naming("other")) as server:
        responses = ask(server.base_url, *"abcde")
    assert {(response.text, response.served) for response in responses} == {("B", "other")}
    assert caplog.text.count("answered by other") == 1


@pytest.mark.parametrize(
    ("api", "body"),
    [
        pytest.param(
            "anthropic",
            {
                "model": "other",
                "content": [{"type": "text", "text": "B"}],
                "stop_reason": "end_turn",
            },
            id="Anthropic",
        ),
        pytest.param(
            "gemini",
            {
                "modelVersion": "other",
                "candidates": [{"content": {"parts": [{"text": "B"}]}, "finishReason": "STOP"}],
            },
            id="Gemini",
        ),
    ],
)
def test_so_it_is_with_the_other_apis(api: str, body: object) -> None:
    with ChatServer(lambda _: whole(body)) as server:
        ((_, response),) = engine(server.base_url, format=api).stream(requests_for("?"))
    assert isinstance(response, Response)
    assert (response.text, response.served) == ("B", "other")


def test_the_build_of_a_server_is_a_part_of_who_answered() -> None:
    answer = Answer(text="B", model="gpt-4o-2024-08-06", fingerprint="fp_44709d6fcb")
    with ChatServer(lambda _: answer) as server:
        (response,) = ask(server.base_url, "a")
    assert response.served == "gpt-4o-2024-08-06 fp_44709d6fcb"


# What is no response, and that nothing a server sends is an exception.


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
