"""The number of requests that a server gets at once is found, and found again when it changes."""

import pytest

from bench_resources.models.api.concurrency_limit import ConcurrencyLimit
from tests.resources.models.api.simulated_server import SECONDS, Capacity, SimulatedServer


def always(capacity: int) -> Capacity:
    return lambda _: capacity


def falls_and_recovers(seconds: float) -> int:
    return 256 if seconds < 20 else 16 if seconds < 120 else 64


def rises(seconds: float) -> int:
    return 16 if seconds < 100 else 256


@pytest.mark.parametrize("bears", [1.1, 2.0])
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
        limit.answered(now - SECONDS * (1 + number / 500), now)
    assert limit.value >= 32


def test_a_given_number_is_never_exceeded():
    server, limit = SimulatedServer(always(1_000)), ConcurrencyLimit(8)
    assert server.ask(800, limit) == pytest.approx(100 * SECONDS, rel=0.05)
    assert limit.value == 8
