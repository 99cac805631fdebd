import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.http.backoff import Failure
from bench_resources.http.errors import classify_error, error_message
from tests.cases import read_cases
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.server_engines import ask
from tests.resources.models.api.stand_ins import TRIES, error


def failure_of(answer: Answer) -> Failure:
    assert answer.raw is not None
    return classify_error(answer.status, answer.raw, answer.headers)


@pytest.mark.parametrize(("body", "message"), read_cases(__file__, "messages.jsonl"))
def test_the_message_of_an_error_is_found(body: object, message: str) -> None:
    assert error_message(body) == message


@pytest.mark.parametrize(
    ("answer", "expected_text"),
    [
        pytest.param(
            Answer(status=502, raw=b"<html><head><title>502 Bad Gateway</title></head>..."),
            "HTTP 502: a web page: 502 Bad Gateway",
            id="a page of a proxy",
        ),
        pytest.param(Answer(status=500, raw=b" no\n good "), "HTTP 500: no good", id="plain text"),
    ],
)
def test_a_failure_is_shown_with_status_and_text(answer: Answer, expected_text: str) -> None:
    assert str(failure_of(answer)) == expected_text


@pytest.mark.parametrize(
    ("status", "body", "expected_start", "tries"), read_cases(__file__, "tries.jsonl")
)
def test_a_failure_has_a_number_of_tries(status, body, expected_start, tries):
    read_failure = failure_of(error(status, body))
    assert read_failure.what.startswith(expected_start)
    assert read_failure.tries == TRIES[tries]
    assert not read_failure.refused


@pytest.mark.parametrize(("status", "message"), [(429, "slow"), (500, "content filter offline")])
def test_a_temporary_failure_is_no_refusal(status: int, message: str) -> None:
    assert failure_of(error(status, {"error": {"message": message}})).refusal == ""


@pytest.mark.parametrize(("status", "body", "kind"), read_cases(__file__, "refusals.jsonl"))
def test_a_refused_request_has_its_kind_and_does_not_end_the_others(status, body, kind):
    answer = error(status, body)
    assert failure_of(answer).refusal == kind
    with ChatServer(lambda request: "A" if "fine" in str(request) else answer) as server:
        fine, refused = ask(server.base_url, "fine", "not so", max_tries=2)
    assert (fine.text, fine.refused) == ("A", "")
    assert (refused.text, refused.refused, refused.refusal) == ("", kind, kind)


@pytest.mark.parametrize(("status", "body", "advice"), read_cases(__file__, "advice.jsonl"))
def test_a_refusal_for_all_requests_has_advice(status: int, body: object, advice: str) -> None:
    answer = error(status, body)
    refusal = failure_of(answer)
    assert (refusal.refused, refusal.tries) == (True, 1)
    assert advice in refusal.advice
    with (
        ChatServer(lambda _: answer) as server,
        pytest.raises(ModelError, match=f"HTTP {status}.*; .*{advice}"),
    ):
        ask(server.base_url, "?")
