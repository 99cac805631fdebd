"""How long a server asks us to wait, and that we do."""

import json
import time
from collections.abc import Callable
from email.utils import formatdate

import pytest

from bench_resources.http.backoff import wait_of
from tests.cases import read_cases
from tests.fakes.chat_server import ChatServer
from tests.fakes.server_engines import ask
from tests.resources.models.api.stand_ins import openai_error


@pytest.mark.parametrize(("headers", "body", "least", "most"), read_cases(__file__, "waits.jsonl"))
def test_how_long_to_wait(headers: dict[str, str], body: str, least: float, most: float) -> None:
    assert least <= wait_of(headers, body) <= most


@pytest.mark.parametrize(
    ("written", "headers", "body"),
    [
        pytest.param(
            lambda moment: formatdate(moment, usegmt=True),
            '{"Retry-After": "%s"}',
            "",
            id="a date",
        ),
        pytest.param(
            lambda moment: f"{moment:.0f}", '{"X-RateLimit-Reset": "%s"}', "", id="a moment in s"
        ),
        pytest.param(
            lambda moment: f"{moment:.0f}000",
            "{}",
            '{"metadata": {"headers": {"X-RateLimit-Reset": "%s"}}}',
            id="OpenRouter: a moment in ms, in the body",
        ),
    ],
)
def test_how_long_to_wait_until_a_moment(
    written: Callable[[float], str], headers: str, body: str
) -> None:
    moment = written(time.time() + 25)
    wait = wait_of(json.loads(headers.replace("%s", moment)), body.replace("%s", moment))
    assert 10 <= wait <= 25.5  # a moment is rounded to seconds


def test_a_model_that_is_being_loaded_is_waited_for_beyond_max_tries() -> None:
    with ChatServer() as server:
        server.fail_next(5, openai_error(503, "Loading model", type="unavailable_error"))
        (response,) = ask(server.base_url, "?", max_tries=2)
        assert server.n_requests == 6
    assert response.text == "A"
