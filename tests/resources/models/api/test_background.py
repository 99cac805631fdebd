"""What a coroutine hands over counts as taken once the caller comes back, having stored it."""

import asyncio

import pytest

from bench_assets.core.schema.chat import Response
from resources.http.event_loop import Hand, in_background

RESPONSE = Response(text="A")


class Workers:
    """Each hands over responses, one after another, and says which of them were taken."""

    def __init__(self, n: int, responses: int = 1) -> None:
        self.n, self.responses = n, responses
        self.taken: list[int] = []

    async def produce(self, hand: Hand) -> None:
        async def work(worker: int) -> None:
            for number in range(self.responses):
                await hand((worker * self.responses + number, RESPONSE))
                self.taken.append(worker * self.responses + number)

        await asyncio.gather(*map(work, range(self.n)))


@pytest.mark.parametrize(("n", "responses"), [(1, 1), (3, 1), (4, 1), (5, 1), (64, 1), (7, 9)])
def test_everything_is_handed_over_once_and_taken(n: int, responses: int) -> None:
    workers = Workers(n, responses)
    handed = [position for position, _ in in_background(workers.produce)]
    assert sorted(handed) == sorted(workers.taken) == list(range(n * responses))


def test_nothing_is_taken_before_it_was_stored() -> None:
    workers, stored = Workers(64, 5), set[int]()
    for position, _ in in_background(workers.produce):
        # This one is being stored: were the process killed now, its worker would still have it.
        assert position not in workers.taken
        assert set(workers.taken) <= stored
        stored.add(position)


def test_who_stops_early_has_taken_what_he_came_back_for() -> None:
    workers = Workers(4, 50)
    arrivals = in_background(workers.produce)
    came = [position for _, (position, _) in zip(range(100), arrivals, strict=False)]
    arrivals.close()
    assert set(workers.taken) <= set(came[:-1])


def test_what_has_arrived_comes_before_what_ended_it() -> None:
    async def produce(hand: Hand) -> None:
        tasks = [asyncio.ensure_future(hand((number, RESPONSE))) for number in range(6)]
        await asyncio.wait(tasks, timeout=0)
        raise OSError("gone")

    arrivals = in_background(produce)
    assert sorted(next(arrivals)[0] for _ in range(6)) == list(range(6))
    with pytest.raises(OSError, match="gone"):
        next(arrivals)
