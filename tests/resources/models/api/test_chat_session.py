import asyncio
import logging
import random
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure, RetryPolicy
from tests.cases import read_cases
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.server_engines import ask, engine, requests_for


def test_a_response_of_more_than_16_mib_is_an_error() -> None:
    with ChatServer(lambda _: Answer(raw=b" " * (17 * 2**20))) as server:
        (response,) = ask(server.base_url, "?", max_tries=1)
    assert response.error == "HTTP 200 with a body of more than 16 MiB (tries: 1)"


HOSTED = "https://models.example.invalid/v1"


def _failure_answer(failure: int | dict[str, Any]) -> int | Answer:
    """A status, or an answer, as an item of ``tries.jsonl`` describes it."""
    if isinstance(failure, int):
        return failure
    raw = failure.get("raw", "").encode() or None
    return Answer(**{**failure, "raw": raw})


@pytest.mark.parametrize(
    ("failures", "n_requests", "error", "refused"), read_cases(__file__, "tries.jsonl")
)
def test_failures_are_tried_again_where_that_may_help(failures, n_requests, error, refused):
    with ChatServer() as server:
        for failure in failures:
            server.fail_next(1, _failure_answer(failure))
        first, second = ask(server.base_url, "?", "another", concurrency=1, max_tries=6)
        assert server.n_requests == n_requests + 1
    assert (first.error, first.refused, second.text) == (error, refused, "A")


def test_retry_after_is_waited_for() -> None:
    with ChatServer() as server:
        server.fail_next(1, Answer(status=503, headers={"Retry-After": "0.3"}))
        ask(server.base_url, "?")
        assert server.times[1] - server.times[0] >= 0.3


def test_a_response_that_takes_too_long_is_requested_again() -> None:
    with ChatServer(lambda _: Answer(wait=0.5)) as server:
        (response,) = ask(server.base_url, "?", timeout=0.2, max_tries=2)
        assert server.n_requests == 2
    assert response.error == "no response within 0.2 s (tries: 2)"


def test_every_retry_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with ChatServer() as server, caplog.at_level(logging.WARNING, "bench_assets.server"):
        server.fail_next(2, 503)
        ask(server.base_url, "?", max_tries=6)
        where = re.escape(f"m at {server.base_url}: HTTP 503")
    first, second = caplog.messages
    assert re.fullmatch(rf"{where}; try 2/6 in [\d.]+ s", first)
    assert re.fullmatch(rf"{where}; try 3/6 in [\d.]+ s", second)


def test_a_server_that_is_down_is_named() -> None:
    reason = "Connection refused: no server is listening"
    with socket.socket() as silent:  # holds a port and never listens
        silent.bind(("127.0.0.1", 0))
        _, port = silent.getsockname()
        base_url = f"http://127.0.0.1:{port}/v1"
        with pytest.raises(ModelError, match=f"^{base_url}: cannot be reached: {reason}$"):
            ask(base_url, *map(str, range(10_000)), max_tries=3)


def test_a_server_that_only_fails_is_given_up_after_a_round() -> None:
    with ChatServer(lambda _: 503) as server:
        with pytest.raises(ModelError, match="cannot be reached: HTTP 503"):
            ask(server.base_url, *map(str, range(10_000)), concurrency=4, max_tries=2)
        # Given up after 8 requests in a row, with 4 more under way; each is sent twice.
        assert server.n_requests <= (8 + 4) * 2


def test_responses_of_a_server_that_goes_away_are_kept() -> None:
    with ChatServer(latency=0.01) as server:
        requests = requests_for(*map(str, range(2_000)))
        responses: dict[int, Response] = {}
        for position, response in engine(server.base_url, concurrency=4).stream(requests):
            responses[position] = response
            if len(responses) == 20:
                server.stop()
    assert sorted(responses) == list(range(2_000))
    answered = [response for response in responses.values() if not response.error]
    assert 20 <= len(answered) < 100  # those that had arrived, on a busy machine too
    last = responses[1_999]
    assert last.error.startswith(f"{server.base_url} cannot be reached any more: ")


def test_an_address_that_is_no_url_is_named() -> None:
    with pytest.raises(ModelError, match=r"http://127.0.0.1:99999/v1: not a URL"):
        ask("http://127.0.0.1:99999/v1", "?")


PROXY_VARIABLES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy")


@pytest.fixture
def hosted_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A key for ``HOSTED``, beside a netrc whose password is not for models."""
    (tmp_path / "netrc").write_text("default login ana password secret")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("KEY", "sk-0123456789abcdef")


@pytest.mark.usefixtures("hosted_key")
def test_only_hosted_servers_are_reached_through_the_proxy_of_the_environment(monkeypatch):
    with ChatServer() as proxy, ChatServer("A") as local:  # this proxy knows no CONNECT
        for name in PROXY_VARIABLES:
            monkeypatch.setenv(name, proxy.base_url.removesuffix("/v1"))
        (local_response,) = ask(local.base_url, "?")
        (hosted_response,) = ask(HOSTED, "?", max_tries=1, api_key_env="KEY")
    assert local_response.text == "A"
    assert hosted_response.error.startswith("the connection broke: 404")


@pytest.mark.usefixtures("hosted_key")
@pytest.mark.parametrize(
    ("no_proxy", "expected_message"),
    [
        pytest.param("", r"no server is listening \(proxy 127\.0\.0\.1:9\)", id="proxy down"),
        pytest.param(
            "example.invalid", r"cannot be reached: .*models.example.invalid", id="NO_PROXY"
        ),
    ],
)
def test_a_proxy_that_is_down_is_named_unless_the_host_needs_none(
    monkeypatch: pytest.MonkeyPatch, no_proxy: str, expected_message: str
) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    with pytest.raises(ModelError, match=expected_message):
        ask(HOSTED, "?", max_tries=1, api_key_env="KEY")


def accept_only_fine(status: int) -> ChatServer:
    """A server that answers texts with "fine" in them, and refuses others with a status."""
    refusal = Answer(status=status, text="no")
    return ChatServer(lambda body: "A" if "fine" in str(body) else refusal)


@pytest.mark.parametrize("status", [401, 402, 404])
def test_ten_refused_requests_in_a_row_end_the_run(status: int) -> None:
    failing = [f"question {n}" for n in range(30)]
    with accept_only_fine(status) as server:
        with pytest.raises(ModelError, match=f"HTTP {status}"):
            ask(server.base_url, "fine", *failing, concurrency=1)
        assert server.n_requests == 1 + 10


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_response_begins_the_count_of_failures_in_a_row_anew(status: int) -> None:
    nine_failing = [f"question {n}" for n in range(9)]
    with accept_only_fine(status) as server:
        texts = ["fine", *nine_failing, "fine too", "question 9"]
        responses = ask(server.base_url, *texts, concurrency=1)
        assert server.n_requests == len(texts)
    assert sum(bool(response.error) for response in responses) == 10


def test_a_timeout_while_the_process_was_suspended_uses_up_no_try() -> None:
    spec = ServerSpec(kind="server", base_url="http://s", model="m", max_tries=1, max_wait=1.0)
    suspended = Failure(what="no response", tries=UNLIMITED_TRIES, stalled=True)
    outcomes: Iterator[Response | Failure] = iter([suspended, Response(text="A")])

    async def ask_once() -> Response | Failure:
        return next(outcomes)

    policy = RetryPolicy(spec, 0.001, random.Random(0))
    assert asyncio.run(policy.retry(ask_once)).text == "A"
