"""Runs a coroutine in a background event loop and streams its results."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias

from bench_assets.core.schema.chat import Response

Arrival: TypeAlias = tuple[int, Response]
Hand: TypeAlias = Callable[[Arrival], Awaitable[object]]

_TOGETHER = 4  # arrivals; to wake the workers of each by itself takes longer than to store it


def in_background(
    produce: Callable[[Hand], Coroutine[Any, Any, None]],
) -> Generator[Arrival]:
    """Run a coroutine in a thread; yield its items.

    A thread, because a notebook has a running loop of its own. An item counts as taken when the
    caller asks for the next one, having stored it: a killed process loses only what its workers
    hold.
    """
    loop = asyncio.new_event_loop()
    arrivals: SimpleQueue[tuple[Arrival, asyncio.Event] | None] = SimpleQueue()

    async def hand(arrival: Arrival) -> None:
        taken = asyncio.Event()
        arrivals.put((arrival, taken))
        await taken.wait()

    task = loop.create_task(produce(hand))
    task.add_done_callback(lambda _: arrivals.put(None))
    # A daemon, so that an unclosed iterator cannot keep the process alive.
    thread = Thread(target=loop.run_until_complete, args=(asyncio.wait([task]),), daemon=True)
    thread.start()
    taken: list[asyncio.Event] = []
    try:
        while (handed := arrivals.get()) is not None:
            yield handed[0]
            taken.append(handed[1])
            if len(taken) == _TOGETHER or arrivals.empty():
                loop.call_soon_threadsafe(_set, tuple(taken))
                taken.clear()
        task.result()
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        loop.close()


def _set(events: Iterable[asyncio.Event]) -> None:
    for event in events:
        event.set()
