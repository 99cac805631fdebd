from typing import Any

import orjson
import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.http.backoff import Failure
from bench_resources.models.api.formats.openai import OpenAI
from bench_resources.models.api.formats.response_body import decode_response
from tests.cases import read_cases
from tests.fakes.server_engines import api_format
from tests.resources.models.api.stand_ins import TRIES


def decode(body: object) -> Response | Failure:
    return decode_response(api_format(OpenAI), orjson.dumps(body), 0.5, {})


def completion(
    content: str | None, finish_reason: str | None = "stop", **message_fields: Any
) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **message_fields}
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return {"choices": [choice]}


FAILURES = read_cases(__file__, "failures_beside.jsonl")
# The last three are failures also beside a text, which may be cut or of another request.
IGNORED_BESIDE_TEXT = [pytest.param(case.values[0], id=case.id) for case in FAILURES[:-3]]


@pytest.mark.parametrize(("error_fields", "expected_message", "tries"), FAILURES)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(completion(""), id="an empty text"),
        pytest.param(completion(content=None), id="null"),
        pytest.param(completion(" \n"), id="blanks"),
        pytest.param(completion("", reasoning_content="A or"), id="a thought alone"),
        pytest.param(completion("", finish_reason=None), id="no finish reason either"),
        pytest.param({"choices": None}, id="no choices"),
        pytest.param({"choices": []}, id="an empty list of choices"),
    ],
)
def test_an_error_beside_an_empty_answer_is_a_failure(body, error_fields, expected_message, tries):
    outcome = decode(body | error_fields)
    assert isinstance(outcome, Failure)
    assert expected_message in str(outcome)
    assert outcome.tries == TRIES[tries]
    assert not outcome.refused


@pytest.mark.parametrize("error_fields", IGNORED_BESIDE_TEXT)
def test_an_error_beside_a_text_is_ignored(error_fields: dict[str, Any]) -> None:
    outcome = decode(completion("B") | error_fields)
    assert isinstance(outcome, Response)
    assert (outcome.text, outcome.finish_reason) == ("B", "stop")


@pytest.mark.parametrize("error_fields", IGNORED_BESIDE_TEXT)
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(completion("", "content_filter"), id="content_filter"),
        pytest.param(completion("", "length"), id="length"),
        pytest.param(completion(content=None, refusal="No."), id="refusal"),
        pytest.param(completion(content=None, tool_calls=[{"id": "1"}]), id="tool_calls"),
    ],
)
def test_an_error_is_ignored_where_the_message_explains_its_missing_text(body, error_fields):
    assert isinstance(decode(body | error_fields), Response)


@pytest.mark.parametrize(
    ("tokens", "count"),
    [
        (3, 3),
        (0, 0),
        *((invalid, None) for invalid in (None, "3", -1, 3.5, True, 10**12, 2**63, [3])),
    ],
)
def test_a_token_count_that_cannot_be_right_is_dropped(tokens: object, count: int | None) -> None:
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens}
    outcome = decode(completion("B") | {"usage": usage})
    assert isinstance(outcome, Response)
    assert (outcome.text, outcome.prompt_tokens, outcome.completion_tokens) == ("B", count, count)
