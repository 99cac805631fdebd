import time
from email.utils import formatdate

import pytest

from bench_resources.http.backoff import wait_of
from tests.cases import read_cases
from tests.fakes.chat_server import ChatServer
from tests.fakes.server_engines import ask
from tests.resources.models.api.stand_ins import openai_error


@pytest.mark.parametrize(("headers", "body", "least", "most"), read_cases(__file__, "waits.jsonl"))
def test_the_wait_is_read_from_headers_or_body(headers, body, least, most):
    assert least <= wait_of(headers, body) <= most


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        pytest.param({"Retry-After": "{http_date}"}, "", id="a date"),
        pytest.param({"X-RateLimit-Reset": "{seconds}"}, "", id="a moment in s"),
        pytest.param(
            {},
            '{"metadata": {"headers": {"X-RateLimit-Reset": "{seconds}000"}}}',
            id="OpenRouter: a moment in ms, in the body",
        ),
    ],
)
def test_the_wait_until_a_moment_is_its_distance(headers: dict[str, str], body: str) -> None:
    moment = time.time() + 25

    def with_moment(text: str) -> str:
        text = text.replace("{http_date}", formatdate(moment, usegmt=True))
        return text.replace("{seconds}", f"{moment:.0f}")

    wait = wait_of({name: with_moment(value) for name, value in headers.items()}, with_moment(body))
    assert 10 <= wait <= 25.5  # rounded to seconds, less the time of a busy machine


def test_a_model_that_is_being_loaded_is_retried_beyond_max_tries() -> None:
    with ChatServer() as server:
        server.fail_next(5, openai_error(503, "Loading model", type="unavailable_error"))
        (response,) = ask(server.base_url, "?", max_tries=2)
        assert server.n_requests == 6
    assert response.text == "A"
