import asyncio
from itertools import islice
from time import sleep

import pytest

from bench_assets.core.schema.chat import Response
from bench_resources.http.event_loop import Hand, stream_in_thread

RESPONSE = Response(text="A")


class Workers:
    """Workers that hand over responses one after another, and count those handed over."""

    def __init__(self, n_workers: int, n_responses: int) -> None:
        self.n_workers, self.n_responses = n_workers, n_responses
        self.n_handed_over = 0

    async def produce(self, hand: Hand) -> None:
        await asyncio.gather(*(self._work(worker, hand) for worker in range(self.n_workers)))

    async def _work(self, worker: int, hand: Hand) -> None:
        first = worker * self.n_responses
        for position in range(first, first + self.n_responses):
            await hand((position, RESPONSE))
            self.n_handed_over += 1


def test_workers_wait_for_a_slow_caller() -> None:
    workers = Workers(4, 200)
    arrivals = stream_in_thread(workers.produce)
    for n_received, _ in enumerate(arrivals, 1):
        sleep(0.001)
        # Besides those received, 20 may wait in the queue, and one for each of the 4 workers.
        assert workers.n_handed_over <= n_received + 20 + 4
    assert workers.n_handed_over == 800


def test_workers_end_when_the_caller_stops_early() -> None:
    workers = Workers(4, 500)
    arrivals = stream_in_thread(workers.produce)
    for _ in range(100):
        next(arrivals)
    arrivals.close()
    assert workers.n_handed_over < 2000


def test_responses_that_arrived_are_received_before_the_error() -> None:
    async def produce(hand: Hand) -> None:
        tasks = [asyncio.ensure_future(hand((number, RESPONSE))) for number in range(6)]
        await asyncio.wait(tasks, timeout=0)
        raise OSError("gone")

    arrivals = stream_in_thread(produce)
    positions = [position for position, _ in islice(arrivals, 6)]
    assert sorted(positions) == [0, 1, 2, 3, 4, 5]
    with pytest.raises(OSError, match="gone"):
        next(arrivals)
