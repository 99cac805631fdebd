import logging
import re
from collections.abc import Mapping

import orjson
import pytest

from bench_assets.core.reading.reasoning import ANSWERS, THOUGHTS, Tags, split_reasoning
from bench_assets.core.schema.chat import Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.backoff import Failure
from bench_resources.models.api.engine import FormatOf
from bench_resources.models.api.formats import response_body
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
from tests.resources.models.api.stand_ins import TRIES

KNOWN_TAGS = sorted({tag for form in (*THOUGHTS, *ANSWERS) for tag in (form.opening, form.closing)})
each_pair_of_tags = pytest.mark.parametrize(
    "tags",
    [
        pytest.param(None, id="the usual tags"),
        pytest.param(("<reflect>", "</reflect>"), id="tags of its own"),
        pytest.param(("{", "}"), id="tags of one character"),
        pytest.param(("|||", "|||"), id="one tag for both"),
        pytest.param(("[[", "]]"), id="tags that end as they begin"),
        pytest.param(("", "</reflect>"), id="a tag that only closes"),
    ],
)
FORMATS: Mapping[str, FormatOf] = {"openai": OpenAI, "anthropic": Anthropic}
THOUGHTS_WITH_A_TAG = (
    "{0}",
    "A {0} then B",
    "{0}{0}{0}",
    "see {0}\nThe answer is (A)\nNo, wait.",
    "x {0}  ",
)


def decode(api: FormatOf, body: object) -> Response | Failure:
    return decode_response(api_format(api), orjson.dumps(body), 0.5, {})


def without_blanks_and_braces(text: str) -> str:
    """A text without what differs where braces are escaped."""
    return re.sub(r"\s+|U\+007[BD]|[{}]", "", text)


@each_pair_of_tags
@pytest.mark.parametrize(
    "tag", [*KNOWN_TAGS, "<reflect>", "</reflect>", "{", "}", "|||", "||||", "]"]
)
def test_a_thought_that_contains_a_tag_is_split_off_whole(tag: str, tags: Tags | None) -> None:
    for template in THOUGHTS_WITH_A_TAG:
        thought = template.format(tag)
        parts = split_reasoning(prepend_reasoning(thought, "B", tags), tags)
        assert (parts.answer, parts.finished) == ("B", True)
        assert without_blanks_and_braces(parts.thought) == without_blanks_and_braces(thought)


@each_pair_of_tags
@pytest.mark.parametrize("tag", [*KNOWN_TAGS, "<answer>A</answer>", "<reflect>", "</reflect>", "}"])
def test_a_thought_that_was_cut_off_is_no_answer(tag: str, tags: Tags | None) -> None:
    for template in THOUGHTS_WITH_A_TAG:
        thought = template.format(tag)
        text = prepend_reasoning(thought, "", tags, cut_off=True)
        response = Response(text=text, finish_reason="length", thinking_tags=tags)
        assert response.parts.answer == ""
        assert response.no_answer
        assert without_blanks_and_braces(response.parts.thought) == without_blanks_and_braces(
            thought
        )


@pytest.fixture
def unreported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forgets the warnings of other tests."""
    monkeypatch.setattr(response_body, "_reported", set())


@pytest.mark.usefixtures("unreported")
@pytest.mark.parametrize(
    ("requested", "answered", "served", "n_warnings"),
    [
        *read_cases(__file__, "served_names.jsonl"),
        pytest.param("big", "x" * 10**6, "x" * 100, 1, id="what is too long is cut"),
    ],
)
def test_an_unexpected_model_that_answers_is_logged_once(
    caplog: pytest.LogCaptureFixture, requested: str, answered: str, served: str, n_warnings: int
) -> None:
    spec = {"kind": "server", "base_url": "http://s/v1", "model": requested}
    checks = [ServedModelCheck(ServerSpec.model_validate(spec)) for _ in range(2)]
    with caplog.at_level(logging.WARNING, "bench_assets.server"):
        identities = [check.identity(answered) for check in checks for _ in range(2)]
    assert identities == [served] * 4
    warning = f"requested the model {requested}, answered by {served}"
    assert caplog.messages == [warning] * n_warnings


def test_responses_name_the_model_that_answered_and_the_build_of_its_server():
    answer = Answer(text="B", model="gpt-4o-2024-08-06", fingerprint="fp_44709d6fcb")
    with ChatServer(lambda _: answer) as server:
        responses = ask(server.base_url, *"abcde")
    served = "gpt-4o-2024-08-06 fp_44709d6fcb"
    assert [(response.text, response.served) for response in responses] == [("B", served)] * 5


@pytest.mark.parametrize(
    ("api", "body", "text", "finish_reason"), read_cases(__file__, "responses.jsonl")
)
def test_a_response_has_its_text_finish_reason_and_seconds(api, body, text, finish_reason):
    response = decode(FORMATS[api], body)
    assert isinstance(response, Response)
    assert (response.text, response.finish_reason, response.seconds) == (text, finish_reason, 0.5)


@pytest.mark.parametrize(
    ("api", "body", "expected_message", "tries"), read_cases(__file__, "no_responses.jsonl")
)
def test_a_body_without_a_response_is_a_failure(api, body, expected_message, tries):
    failure = decode(FORMATS[api], body)
    assert isinstance(failure, Failure)
    assert re.search(expected_message, str(failure))
    assert failure.tries == TRIES[tries]
    assert not failure.refused


ANTHROPIC_MESSAGE: dict[str, object] = {
    "type": "message",
    "content": [{"type": "text", "text": "B"}],
    "stop_reason": "end_turn",
}
USAGE_WITH_CACHE = {
    "input_tokens": 1,
    "cache_creation_input_tokens": 2,
    "cache_read_input_tokens": 4,
    "output_tokens": 3,
}


@pytest.mark.parametrize(
    ("body", "prompt_tokens", "completion_tokens"),
    [
        pytest.param(
            ANTHROPIC_MESSAGE | {"usage": USAGE_WITH_CACHE},
            1 + 2 + 4,
            3,
            id="tokens written to a cache and read from it are part of the prompt",
        ),
        pytest.param(ANTHROPIC_MESSAGE, None, None, id="no counts"),
    ],
)
def test_anthropic_s_token_counts_are_read(body, prompt_tokens, completion_tokens):
    outcome = decode(Anthropic, body)
    assert isinstance(outcome, Response)
    assert outcome.prompt_tokens == prompt_tokens
    assert outcome.completion_tokens == completion_tokens
