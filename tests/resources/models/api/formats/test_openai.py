"""Servers that fail under HTTP 200, beside a response or in its place; and counts of tokens."""

from typing import Any

import orjson
import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure
from bench_resources.models.api.engine import FormatOf
from bench_resources.models.api.formats.openai import OpenAI
from bench_resources.models.api.formats.response_body import decode_response
from tests.cases import read_cases
from tests.fakes.server_engines import api_format


def read_as(body: object, api: FormatOf = OpenAI) -> Response | Failure:
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    return decode_response(api_format(api), data, 0.5, {})


def one(
    content: str | None, end: str | None = "stop", beside: Any = None, **more: Any
) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    choice = {"index": 0, "message": message, "finish_reason": end}
    return {"choices": [choice], **(beside or {})}


ALL_FAILURES = read_cases(__file__, "failures_beside.jsonl")
FAILURES = ALL_FAILURES[:-3]
"""The last three are failures also beside a text, which may be cut or of another request."""


@pytest.mark.parametrize(("beside", "shown", "tries"), ALL_FAILURES)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(one(""), id="an empty text"),
        pytest.param(one(None), id="null"),
        pytest.param(one(" \n"), id="blanks"),
        pytest.param(one("", reasoning_content="A or"), id="a thought alone"),
        pytest.param(one("", None), id="no end either"),
        pytest.param({"choices": None}, id="no choices"),
        pytest.param({"choices": []}, id="none of them"),
    ],
)
def test_a_failure_beside_no_answer_is_one(
    body: dict[str, Any], beside: dict[str, Any], shown: str, tries: int | str
) -> None:
    outcome = read_as(body | beside)
    assert isinstance(outcome, Failure)
    assert shown in str(outcome)
    assert outcome.tries == (UNLIMITED_TRIES if tries == "again" else tries)
    assert not outcome.refused


@pytest.mark.parametrize(("beside", "shown", "tries"), FAILURES)
def test_a_text_is_a_response_whatever_stands_beside(
    beside: dict[str, Any], shown: str, tries: int | str
) -> None:
    outcome = read_as(one("B", beside=beside))
    assert isinstance(outcome, Response)
    assert (outcome.text, outcome.finish_reason) == ("B", "stop")


@pytest.mark.parametrize(("beside", "shown", "tries"), FAILURES)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(one("", "content_filter"), id="content_filter"),
        pytest.param(one("", "length"), id="length"),
        pytest.param(one(None, refusal="No."), id="refusal"),
        pytest.param(one(None, tool_calls=[{"id": "1"}]), id="tool_calls"),
    ],
)
def test_an_end_that_says_why_there_is_no_text_counts(
    body: dict[str, Any], beside: dict[str, Any], shown: str, tries: int | str
) -> None:
    assert isinstance(read_as(body | beside), Response)


@pytest.mark.parametrize(
    ("tokens", "count"),
    [(3, 3), (0, 0), *((odd, None) for odd in (None, "3", -1, 3.5, True, 10**12, 2**63, [3]))],
)
def test_a_number_of_tokens_that_cannot_be_one_is_dropped(
    tokens: object, count: int | None
) -> None:
    choice = {"message": {"content": "B"}, "finish_reason": "stop"}
    outcome = read_as(
        {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": tokens}}
    )
    assert isinstance(outcome, Response)
    assert (outcome.text, outcome.prompt_tokens, outcome.completion_tokens) == ("B", count, count)
