"""How many requests an address gets at once, and which of several addresses gets the next."""

import time
from itertools import count

import pytest

from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_assets.core.schema.errors import ModelError
from resources.config.sections.servers import ServerSpec
from resources.http.backoff import AS_OFTEN_AS_ALLOWED, Failure
from resources.models.api.load_balancer import Endpoint
from tests.chat_server import Answer, ChatServer, texts
from tests.resources.models.api.asking import ask, engine

ANSWERED = Response(text="A")
OVERLOADED = Failure(what="HTTP 429", tries=AS_OFTEN_AS_ALLOWED)
WRONG = Failure(what="HTTP 400")
LOADING = Failure(what="HTTP 503", tries=AS_OFTEN_AS_ALLOWED, loading=True)
NO_CONNECTION = Failure(what="refused", tries=AS_OFTEN_AS_ALLOWED, unreachable=True)


def endpoint(**fields) -> Endpoint:
    whole = {"kind": "server", "base_url": "http://s", "model": "m", "concurrency": 8} | fields
    return Endpoint("http://s", "/chat/completions", ServerSpec.model_validate(whole))


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
        one.learn(outcome, time.monotonic())
    assert one.limit.value == limit


def test_requests_that_were_under_way_together_halve_it_once():
    one, sent_at = endpoint(), time.monotonic()
    for _ in range(8):
        one.learn(OVERLOADED, sent_at)
    assert one.limit.value == 4


@pytest.mark.parametrize("given", [{}, {"concurrency": 32}], ids=["searched", "given"])
def test_a_server_that_bears_four_is_soon_asked_four_at_once(given):
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


def test_more_workers_come_when_the_server_bears_more():
    with ChatServer(latency=0.05) as server:
        ask(server.base_url, *map(str, range(1_000)))
    assert server.most_at_once > 32


def test_requests_with_the_same_image_go_out_together():
    prompts = [Prompt.of(f"{n}", Image(one)) for n in range(3) for one in ("png", "clear")]
    with ChatServer() as server:
        stream = engine(server.base_url, concurrency=1).stream([Request(prompt=p) for p in prompts])
        assert sorted(position for position, _ in stream) == list(range(6))
    assert [texts(body)[0] for body in server.bodies] == ["0", "1", "2"] * 2


def asked_of_two(first: ChatServer, second: ChatServer, n: int = 200) -> tuple[int, int]:
    responses = ask((first.base_url, second.base_url), *map(str, range(n)), concurrency=4)
    assert [response.error for response in responses] == [""] * n
    return first.n_requests, second.n_requests


def test_addresses_share_the_requests_and_each_has_its_own_bound():
    with ChatServer(latency=0.01) as first, ChatServer(latency=0.01) as second:
        shares = asked_of_two(first, second)
        assert (first.most_at_once, second.most_at_once) == (4, 4)
    assert sum(shares) == 200
    assert min(shares) >= 50


def test_an_address_that_is_away_is_left_alone(dead_port):
    with ChatServer() as server:
        away = f"http://127.0.0.1:{dead_port}/v1"
        started = time.monotonic()
        responses = ask((away, server.base_url), *map(str, range(100)), concurrency=4)
        assert [response.error for response in responses] == [""] * 100
        assert server.n_requests == 100
        assert time.monotonic() - started < 5


def test_all_addresses_are_named_when_none_is_there(dead_port):
    first, second = (f"http://{host}:{dead_port}/v1" for host in ("127.0.0.1", "localhost"))
    with pytest.raises(ModelError, match=f"^{first} {second}: cannot be reached"):
        ask((first, second), "?", max_tries=3)
