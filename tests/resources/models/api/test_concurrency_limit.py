"""The number of requests that a server gets at once is found, and found again when it changes."""

import time
from itertools import count

import pytest

from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.http.backoff import UNLIMITED_TRIES, Failure
from bench_resources.models.api.concurrency_limit import ConcurrencyLimit, Endpoint
from tests.fakes.chat_server import Answer, ChatServer, texts
from tests.fakes.server_engines import ask, engine
from tests.resources.models.api.simulated_server import SECONDS, Capacity, SimulatedServer


def always(capacity: int) -> Capacity:
    return lambda _: capacity


def falls_and_recovers(seconds: float) -> int:
    return 256 if seconds < 20 else 16 if seconds < 120 else 64


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
def test_it_is_as_fast_as_nine_tenths_of_the_best_number(capacity, n, bears):
    fixed = [
        SimulatedServer(capacity, bears).ask(n, ConcurrencyLimit(given))
        for given in (16, 32, 64, 128, 256, 512)
    ]
    server = SimulatedServer(capacity, bears)
    seconds = server.ask(n, ConcurrencyLimit(None))
    assert seconds <= min(fixed) / 0.9
    assert server.refused <= 0.02 * n


def test_longer_responses_are_not_taken_for_an_overload():
    limit = ConcurrencyLimit(None)
    now = 0.0
    for number in range(4_000):  # the server is never full, and responses take longer and longer
        now += 0.01
        limit.count_response(now - SECONDS * (1 + number / 500), now)
    assert limit.value >= 32


# How many requests a server gets at once.


ANSWERED = Response(text="A")
OVERLOADED = Failure(what="HTTP 429", tries=UNLIMITED_TRIES)
WRONG = Failure(what="HTTP 400")
LOADING = Failure(what="HTTP 503", tries=UNLIMITED_TRIES, loading=True)
NO_CONNECTION = Failure(what="refused", tries=UNLIMITED_TRIES, unreachable=True)


def endpoint(**fields) -> Endpoint:
    whole = {"kind": "server", "base_url": "http://s", "model": "m", "concurrency": 8} | fields
    return Endpoint(ServerSpec.model_validate(whole), "/chat/completions")


@pytest.mark.parametrize(
    ("outcomes", "limit"),
    [
        pytest.param([], 8, id="it starts at the upper bound"),
        pytest.param([OVERLOADED], 4, id="an overload halves it"),
        pytest.param([OVERLOADED, ANSWERED], 4.25, id="a response brings a fourth of one back"),
        pytest.param([WRONG], 8, id="a request that is wrong says nothing of the load"),
        pytest.param([NO_CONNECTION], 8, id="nor does a server that is away"),
        pytest.param([LOADING], 8, id="nor one whose model is not there yet"),
    ],
)
def test_limit(outcomes, limit):
    one = endpoint()
    for outcome in outcomes:
        one.adapt_limit(outcome, time.monotonic())
    assert one.limit.value == limit


@pytest.mark.parametrize("given", [{}, {"concurrency": 32}], ids=["searched", "given"])
def test_a_server_that_bears_four_soon_gets_four_at_once(given):
    refused = count()

    def answer(_):
        if server.n_requests - server.n_answered > 4:
            next(refused)
            return Answer(status=429)
        return "A"

    with ChatServer(answer, latency=0.01) as server:
        responses = ask(server.base_url, *map(str, range(200)), max_tries=99, **given)
    assert [response.text for response in responses] == ["A"] * 200
    assert next(refused) < 150  # the first round alone refuses 28, a round that never learns most


def test_requests_with_the_same_image_go_out_together():
    prompts = [Prompt.of(f"{n}", Image(one)) for n in range(3) for one in ("png", "clear")]
    with ChatServer() as server:
        stream = engine(server.base_url, concurrency=1).stream([Request(prompt=p) for p in prompts])
        assert sorted(position for position, _ in stream) == list(range(6))
    assert [texts(body)[0] for body in server.bodies] == ["0", "1", "2"] * 2
