"""A thought that a server keeps apart is taken off again, whatever it speaks of: just it."""

import logging
import re
from collections.abc import Mapping

import orjson
import pytest

from bench_assets.core.reading.reasoning import ANSWERS, THOUGHTS, Tags, split_reasoning
from bench_assets.core.schema.chat import Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure
from bench_resources.models.api.engine import FormatOf
from bench_resources.models.api.formats.anthropic import Anthropic
from bench_resources.models.api.formats.openai import OpenAI
from bench_resources.models.api.formats.response_body import (
    ServedModelCheck,
    decode_response,
    prepend_reasoning,
)
from tests.cases import read_cases
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.server_engines import api_format, ask

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
FORMATS: Mapping[str, FormatOf] = {"openai": OpenAI, "anthropic": Anthropic}
TEXT = {"type": "text", "text": "B"}
AWKWARD = ("{0}", "A {0} then B", "{0}{0}{0}", "see {0}\nThe answer is (A)\nNo, wait.", "x {0}  ")


def read_as(api: FormatOf, body: object) -> Response | Failure:
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    return decode_response(api_format(api), data, 0.5, {})


def message(end: str | None, *blocks: object) -> dict[str, object]:
    return {"type": "message", "content": list(blocks), "stop_reason": end}


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
        assert response.parts.answer == ""
        assert response.no_answer
        assert without_blanks(response.parts.thought) == without_blanks(written)


# Who answered stands beside a response, and is said once where it is another than was asked.


@pytest.mark.parametrize(
    ("requested", "answered", "served", "is_logged"),
    [
        *read_cases(__file__, "served_names.jsonl"),
        pytest.param("big", "x" * 10**6, "x" * 100, True, id="what is too long is cut"),
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
    """With the build of the server, where that is told."""
    answer = Answer(text="B", model="gpt-4o-2024-08-06", fingerprint="fp_44709d6fcb")
    with ChatServer(lambda _: answer) as server:
        responses = ask(server.base_url, *"abcde")
    served = "gpt-4o-2024-08-06 fp_44709d6fcb"
    assert {(response.text, response.served) for response in responses} == {("B", served)}
    assert caplog.text.count("answered by gpt-4o") == 1


# What is a response, and what is none.


@pytest.mark.parametrize(("api", "body", "text", "end"), read_cases(__file__, "responses.jsonl"))
def test_a_response(api: str, body: object, text: str, end: str) -> None:
    response = read_as(FORMATS[api], body)
    assert isinstance(response, Response)
    assert (response.text, response.finish_reason, response.seconds) == (text, end, 0.5)


@pytest.mark.parametrize(
    ("api", "body", "message", "tries"), read_cases(__file__, "no_responses.jsonl")
)
def test_no_response(api: str, body: object, message: str, tries: int | str) -> None:
    failure = read_as(FORMATS[api], body)
    assert isinstance(failure, Failure)
    assert re.search(message, str(failure))
    assert failure.tries == (UNLIMITED_TRIES if tries == "again" else tries)
    assert not failure.refused


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
    ],
)
def test_tokens(api: FormatOf, body: object, tokens: tuple[int | None, int | None]) -> None:
    outcome = read_as(api, body)
    assert isinstance(outcome, Response)
    assert (outcome.prompt_tokens, outcome.completion_tokens) == tokens
