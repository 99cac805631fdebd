"""Runs coroutines from synchronous code: to their end, or streaming their results."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias, TypeVar

from bench_assets.core.schema.chat import Response

Arrival: TypeAlias = tuple[int, Response]
Hand: TypeAlias = Callable[[Arrival], Awaitable[object]]

Result = TypeVar("Result")

_MAX_WAITING = 20  # arrivals that may wait for the caller
_PAUSE = 0.01  # s between two checks whether fewer wait


def stream_in_thread(produce: Callable[[Hand], Coroutine[Any, Any, None]]) -> Generator[Arrival]:
    """Run a coroutine in a thread, and yield the arrivals that it hands over.

    A thread, because a notebook has a running loop of its own. Handing over waits only while the
    caller is slow, because waiting for it at each arrival would cost two thread switches. An error
    of the coroutine is raised after its last arrival.
    """
    loop = asyncio.new_event_loop()
    arrivals: SimpleQueue[Arrival | None] = SimpleQueue()

    async def hand(arrival: Arrival) -> None:
        arrivals.put(arrival)
        while arrivals.qsize() > _MAX_WAITING:
            await asyncio.sleep(_PAUSE)

    task = loop.create_task(produce(hand))
    task.add_done_callback(lambda _: arrivals.put(None))
    # A daemon, so that an unclosed iterator cannot keep the process alive.
    thread = Thread(target=loop.run_until_complete, args=(asyncio.wait([task]),), daemon=True)
    thread.start()
    try:
        while (arrival := arrivals.get()) is not None:
            yield arrival
        task.result()
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        loop.close()


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end: in a thread within a running loop, such as a notebook's."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    results: list[Result] = []

    async def produce(_: Hand) -> None:
        results.append(await work)

    list(stream_in_thread(produce))
    return results[0]
