"""When a server is tried again and when no more, and how its answers travel."""

import asyncio
import logging
import random
import re
import socket
import time
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


def test_what_is_too_large_is_an_error() -> None:
    with ChatServer(lambda _: Answer(raw=b" " * (17 * 2**20))) as server:
        (response,) = ask(server.base_url, "?", max_tries=1)
    assert response.error == "HTTP 200 with a body of more than 16 MiB (tries: 1)"


HOSTED = "https://models.example.invalid/v1"


def _read(raw: str = "", **fields: Any) -> Answer:
    return Answer(**fields, raw=raw.encode() or None)


@pytest.mark.parametrize(
    ("failures", "n_requests", "error", "refused"), read_cases(__file__, "tries.jsonl")
)
def test_tries(
    failures: list[int | dict[str, Any]], n_requests: int, error: str, refused: str
) -> None:
    with ChatServer() as server:
        for failure in failures:
            server.fail_next(1, failure if isinstance(failure, int) else _read(**failure))
        first, second = ask(server.base_url, "?", "another", concurrency=1)
        assert server.n_requests == n_requests + 1
    assert bool(first.error) == bool(error)
    assert re.search(error, first.error)
    assert (first.refused, second.text) == (refused, "A")


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
        ask(server.base_url, "?")
        where = f"m at {server.base_url}: HTTP 503"
    assert [re.sub(r"[\d.]+ s$", "S", message) for message in caplog.messages] == [
        f"{where}; try 2/6 in S",
        f"{where}; try 3/6 in S",
    ]


def test_a_server_that_is_down_is_named_after_one_round_of_tries() -> None:
    reason = "Connection refused: no server is listening"
    with socket.socket() as taken:  # a port that nobody else can be given
        taken.bind(("127.0.0.1", 0))  # and never listens
        base_url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ModelError, match=f"^{base_url}: cannot be reached: {reason}$"):
            ask(base_url, *map(str, range(10_000)), max_tries=3)


def test_a_server_that_only_fails_is_given_up_after_a_round() -> None:
    with ChatServer(lambda _: 503) as server:
        with pytest.raises(ModelError, match="cannot be reached: HTTP 503"):
            ask(server.base_url, *map(str, range(10_000)), concurrency=4, max_tries=2)
        assert server.n_requests <= (8 + 4) * 2


def test_a_server_that_goes_away_costs_only_the_rest() -> None:
    with ChatServer(latency=0.01) as server:
        requests = requests_for(*map(str, range(2_000)))
        responses: dict[int, Response] = {}
        started = time.monotonic()
        for position, response in engine(server.base_url, concurrency=4).stream(requests):
            responses[position] = response
            if len(responses) == 20:
                server.stop()
    assert sorted(responses) == list(range(2_000))
    answered = [response for response in responses.values() if not response.error]
    assert 20 <= len(answered) < 100  # those that had arrived, on a busy machine too
    assert responses[1_999].error.startswith(f"{server.base_url} cannot be reached any more: ")
    assert time.monotonic() - started < 5


def test_an_address_that_is_none_is_named_as_such() -> None:
    with pytest.raises(ModelError, match=r"http://127.0.0.1:99999/v1: not a URL"):
        ask("http://127.0.0.1:99999/v1", "?")


def test_a_hosted_server_is_reached_through_the_proxy_of_the_environment_and_a_near_one_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("default login ana password secret")  # not for models
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("KEY", "sk-0123456789abcdef")
    with ChatServer() as proxy, ChatServer("A") as near:  # the first knows no CONNECT
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, proxy.base_url.removesuffix("/v1"))
        assert [response.text for response in ask(near.base_url, "?")] == ["A"]
        (hosted,) = ask(HOSTED, "?", max_tries=1, api_key_env="KEY")
        assert hosted.error.startswith("the connection broke: 404")
        for name in ("HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        with pytest.raises(ModelError, match=r"no server is listening \(proxy 127\.0\.0\.1:9\)"):
            ask(HOSTED, "?", max_tries=1, api_key_env="KEY")
        monkeypatch.setenv("NO_PROXY", "example.invalid")
        with pytest.raises(ModelError, match=r"cannot be reached: .*models.example.invalid"):
            ask(HOSTED, "?", max_tries=1, api_key_env="KEY")


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_key_that_expires_ends_the_run_after_ten_requests_in_a_row(status: int) -> None:
    """The responses before it are cached, and what is fine in between begins the count anew."""
    expired = Answer(status=status, text="no")
    wrong = [f"not so {n}" for n in range(30)]
    with ChatServer(lambda body: "A" if "fine" in str(body) else expired) as server:
        kept = ask(server.base_url, "fine", *wrong[:9], "fine too", *wrong[9:10], concurrency=1)
        assert sum(bool(response.error) for response in kept) == 10
        with pytest.raises(ModelError, match=f"HTTP {status}"):
            ask(server.base_url, "fine", *wrong, concurrency=1)
        assert server.n_requests == 12 + 1 + 10


def test_a_timeout_of_a_suspended_process_does_not_count() -> None:
    """A laptop that sleeps through a timeout has used up no try."""
    spec = ServerSpec(kind="server", base_url="http://s", model="m", max_tries=1, max_wait=1.0)
    slept = Failure(what="no response", tries=UNLIMITED_TRIES, stalled=True)
    outcomes: Iterator[Response | Failure] = iter([slept, Response(text="A")])

    async def ask_once() -> Response | Failure:
        return next(outcomes)

    policy = RetryPolicy(spec, 0.001, random.Random(0))
    assert asyncio.run(policy.response(ask_once)).text == "A"
