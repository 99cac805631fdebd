import time
from typing import Any

import pytest

from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_resources.config.sections.servers import INITIAL_CONCURRENCY, ServerSpec
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure
from bench_resources.models.api.concurrency_limit import ConcurrencyLimit, Endpoint
from tests.fakes.chat_server import Answer, ChatServer, texts
from tests.fakes.server_engines import ask, engine
from tests.resources.models.api.simulated_server import SECONDS, Capacity, SimulatedServer


def always(capacity: int) -> Capacity:
    return lambda _: capacity


def falls_and_recovers(seconds: float) -> int:
    if seconds < 20:
        return 256
    return 16 if seconds < 120 else 64


def rises(seconds: float) -> int:
    return 16 if seconds < 100 else 256


@pytest.mark.parametrize("bears", [1.1, pytest.param(2.0, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("capacity", "n"),
    [
        pytest.param(always(16), 4_000, id="16"),
        pytest.param(always(64), 8_000, id="64"),
        pytest.param(always(256), 32_000, id="256"),
        pytest.param(falls_and_recovers, 24_000, id="256, then 16, then 64"),
        pytest.param(rises, 40_000, id="16, then 256"),
    ],
)
def test_a_searched_limit_is_nine_tenths_as_fast_as_the_best_fixed_one(capacity, n, bears):
    seconds_of_fixed_limits = [
        SimulatedServer(capacity, bears).seconds_for(n, ConcurrencyLimit(concurrency))
        for concurrency in (16, 32, 64, 128, 256, 512)
    ]
    server = SimulatedServer(capacity, bears)
    seconds = server.seconds_for(n, ConcurrencyLimit(configured=None))
    assert seconds <= min(seconds_of_fixed_limits) / 0.9
    assert server.refused <= 0.02 * n


def test_responses_that_grow_longer_are_not_taken_for_an_overload() -> None:
    limit = ConcurrencyLimit(configured=None)
    for n_responses in range(4_000):  # one every 0.01 s, from a server that is never full
        now = 0.01 * (n_responses + 1)
        limit.count_response(now - SECONDS * (1 + n_responses / 500), now)
    assert limit.value >= INITIAL_CONCURRENCY


ANSWERED = Response(text="A")
OVERLOADED = Failure(what="HTTP 429", tries=UNLIMITED_TRIES)
WRONG = Failure(what="HTTP 400")
LOADING = Failure(what="HTTP 503", tries=UNLIMITED_TRIES, loading=True)
NO_CONNECTION = Failure(what="refused", tries=UNLIMITED_TRIES, unreachable=True)


@pytest.mark.parametrize(
    ("outcomes", "limit"),
    [
        pytest.param([], 8, id="it starts at the upper bound"),
        pytest.param([OVERLOADED], 4, id="an overload halves it"),
        pytest.param([OVERLOADED, ANSWERED], 4.25, id="a response adds 1 / 4 to a limit of 4"),
        pytest.param([WRONG], 8, id="a wrong request does not change it"),
        pytest.param([NO_CONNECTION], 8, id="a server that is away does not change it"),
        pytest.param([LOADING], 8, id="a model that is still loading does not change it"),
    ],
)
def test_only_an_overload_lowers_the_limit(outcomes, limit):
    spec = ServerSpec(kind="server", base_url="http://s", model="m", concurrency=8)
    endpoint = Endpoint(spec, "/chat/completions")
    for outcome in outcomes:
        endpoint.adapt_limit(outcome, time.monotonic())
    assert endpoint.limit.value == limit


@pytest.mark.parametrize("fields", [{}, {"concurrency": 32}], ids=["searched", "of the section"])
def test_a_server_that_bears_four_soon_gets_four_at_once(fields: dict[str, int]) -> None:
    n_refused = 0

    def answer(_: dict[str, Any]) -> Answer | str:
        nonlocal n_refused
        if server.n_requests - server.n_answered > 4:
            n_refused += 1
            return Answer(status=429)
        return "A"

    with ChatServer(answer, latency=0.01) as server:
        responses = ask(server.base_url, *map(str, range(200)), max_tries=99, **fields)
    assert [response.text for response in responses] == ["A"] * 200
    assert n_refused < 150  # of 32 at once the first round refuses 28; without learning, most


def test_requests_with_the_same_image_are_sent_one_after_the_other() -> None:
    prompts = [Prompt.of(f"{n}", Image(name)) for n in range(3) for name in ("png", "clear")]
    with ChatServer() as server:
        stream = engine(server.base_url, concurrency=1).stream([Request(prompt=p) for p in prompts])
        assert sorted(position for position, _ in stream) == list(range(6))
    sent_texts = [text for body in server.bodies for text in texts(body)]
    assert sent_texts == ["0", "1", "2"] * 2
