"""Replicas that are simulated: each answers one request at a time, after some milliseconds."""

import queue
import threading
import time
from collections.abc import Iterator, Sequence

from bench_assets.core.schema.chat import Decoding, Request, Response


class Replicas:
    """An engine over replicas that sleep."""

    identity, peak_memory = "replicas", None
    decoding = Decoding()

    def __init__(self, n: int, seconds: float) -> None:
        """Say how many there are, and how long each takes for a request."""
        self._n = n
        self._seconds = seconds

    def stream(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        """Give each free replica the next request; responses come as they are done."""
        waiting = iter(range(len(requests)))
        done: queue.SimpleQueue[int] = queue.SimpleQueue()
        next_one = threading.Lock()

        def work() -> None:
            while True:
                with next_one:
                    position = next(waiting, None)
                if position is None:
                    return
                time.sleep(self._seconds)
                done.put(position)

        replicas = [threading.Thread(target=work, daemon=True) for _ in range(self._n)]
        for one in replicas:
            one.start()
        for _ in requests:
            position = done.get()
            yield (
                position,
                Response(text=f"A {position}", finish_reason="stop", completion_tokens=2),
            )

    def close(self) -> None:
        """Nothing is held."""
