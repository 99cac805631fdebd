"""What servers say instead of responding, and what is made of it."""

import pytest

from bench_assets.core.schema.chat import (
    Image,
    Prompt,
    Request,
)
from bench_assets.core.schema.errors import ModelError
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure
from bench_resources.http.errors import error_message, failure
from tests.cases import read_cases
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.server_engines import ask, engine
from tests.resources.models.api.stand_ins import error


def read(answer: Answer) -> Failure:
    assert answer.raw is not None
    return failure(answer.status, answer.raw, answer.headers)


@pytest.mark.parametrize(("body", "message"), read_cases(__file__, "messages.jsonl"))
def test_the_message_is_found_in(body: object, message: str) -> None:
    assert error_message(body) == message


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        pytest.param(
            Answer(status=502, raw=b"<html><head><title>502 Bad Gateway</title></head>..."),
            "HTTP 502: a web page: 502 Bad Gateway",
            id="a page of a proxy",
        ),
        pytest.param(Answer(status=500, raw=b" no\n good "), "HTTP 500: no good", id="plain text"),
    ],
)
def test_what_is_shown(answer: Answer, shown: str) -> None:
    assert str(read(answer)) == shown


@pytest.mark.parametrize(("status", "body", "what", "tries"), read_cases(__file__, "tries.jsonl"))
def test_whether_to_ask_again(status: int, body: object, what: str, tries: int | str) -> None:
    refusal = read(error(status, body))
    assert refusal.what.startswith(what)
    assert refusal.tries == (UNLIMITED_TRIES if tries == "again" else tries)
    assert not refusal.refused


@pytest.mark.parametrize(("status", "body", "kind"), read_cases(__file__, "refusals.jsonl"))
def test_what_is_refused_for_good_says_why(status: int, body: object, kind: str) -> None:
    answer = error(status, body)
    assert read(answer).refusal == kind
    if kind:
        with ChatServer(lambda request: "A" if "fine" in str(request) else answer) as server:
            fine, refused = ask(server.base_url, "fine", "not so", max_tries=2)
        assert (fine.text, fine.refused) == ("A", "")
        assert (refused.text, refused.refused, refused.refusal) == ("", kind, kind)


@pytest.mark.parametrize(("status", "body", "advice"), read_cases(__file__, "advice.jsonl"))
def test_what_to_do_about_a_refusal(status: int, body: object, advice: str) -> None:
    answer = error(status, body)
    refusal = read(answer)
    assert (refusal.refused, refusal.tries) == (True, 1)
    assert advice in refusal.advice
    with (
        ChatServer(lambda _: answer) as server,
        pytest.raises(ModelError, match=f"HTTP {status}.*; .*{advice}"),
    ):
        ask(server.base_url, "?")


def test_a_model_that_is_text_only_is_sent_no_image() -> None:
    request = Request(prompt=Prompt.of(Image("png"), "Which?"))
    with ChatServer("B") as server:
        list(engine(server.base_url, text_only=True).stream([request]))
    assert server.bodies[0]["messages"][0]["content"] == "Which?"
