"""A coroutine in a thread hands over what arrives, and does not run ahead of a slow caller."""

import asyncio
from time import sleep

import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.http.event_loop import Hand, stream_in_thread

RESPONSE = Response(text="A")


class Workers:
    """Each hands over responses, one after another, and counts those that it could."""

    def __init__(self, n: int, responses: int = 1) -> None:
        self.n, self.responses = n, responses
        self.taken: list[int] = []

    async def produce(self, hand: Hand) -> None:
        async def work(worker: int) -> None:
            for number in range(self.responses):
                await hand((worker * self.responses + number, RESPONSE))
                self.taken.append(worker * self.responses + number)

        await asyncio.gather(*map(work, range(self.n)))


def test_workers_wait_for_a_slow_caller() -> None:
    workers = Workers(4, 200)
    arrivals = stream_in_thread(workers.produce)
    for n_came, _ in enumerate(arrivals, 1):
        sleep(0.001)
        # Beside what the caller has, 20 arrivals may wait, and one that each worker hands over.
        assert len(workers.taken) <= n_came + 20 + 4
    assert len(workers.taken) == 800


def test_workers_end_when_the_caller_stops_early() -> None:
    workers = Workers(4, 500)
    arrivals = stream_in_thread(workers.produce)
    for _ in zip(range(100), arrivals, strict=False):
        pass
    arrivals.close()
    assert len(workers.taken) < 2000


def test_what_has_arrived_comes_before_what_ended_it() -> None:
    async def produce(hand: Hand) -> None:
        tasks = [asyncio.ensure_future(hand((number, RESPONSE))) for number in range(6)]
        await asyncio.wait(tasks, timeout=0)
        raise OSError("gone")

    arrivals = stream_in_thread(produce)
    assert sorted(next(arrivals)[0] for _ in range(6)) == list(range(6))
    with pytest.raises(OSError, match="gone"):
        next(arrivals)
