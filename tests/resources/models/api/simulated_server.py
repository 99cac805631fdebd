"""A server in simulated time, for concurrency limits."""

import heapq
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp
from typing import TypeAlias

from bench_resources.models.api.concurrency_limit import ConcurrencyLimit

Capacity: TypeAlias = Callable[[float], int]  # s -> requests that it works on at once

SECONDS = 0.5  # of a response that does not wait; their logarithms spread normally
_REFUSAL = 0.005  # s
_RETRY = 0.5  # s


@dataclass
class SimulatedServer:
    """Works on some requests at once, lets others wait, and refuses more than these."""

    capacity: Capacity
    bears: float = 2.0  # times its capacity: requests that it works on or lets wait
    spread: float = 0.3
    now: float = 0.0  # s
    refused: int = 0
    busy: int = 0
    queue: deque[float] = field(default_factory=deque)  # when they were sent
    events: list[tuple[float, float, bool]] = field(default_factory=list)  # end, sent, answered
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    def send(self) -> None:
        """Take a request."""
        capacity = self.capacity(self.now)
        if self.busy + len(self.queue) >= self.bears * capacity:
            heapq.heappush(self.events, (self.now + _REFUSAL, self.now, False))
        elif self.busy < capacity:
            self._work(self.now)
        else:
            self.queue.append(self.now)

    def ask(self, n: int, limit: ConcurrencyLimit) -> float:
        """Send requests as a limit allows, refused ones again; the seconds it takes."""
        todo, again, open_ = n, list[float](), 0
        while todo or again or open_:
            while open_ < int(limit.value) and (todo or (again and again[0] <= self.now)):
                if again and again[0] <= self.now:
                    heapq.heappop(again)
                else:
                    todo -= 1
                open_ += 1
                self.send()
            waits = again and open_ < int(limit.value)
            if waits and (not self.events or again[0] < self.events[0][0]):
                self.now = again[0]
                continue
            self.now, sent, answered = heapq.heappop(self.events)
            open_ -= 1
            if answered:
                limit.count_response(sent, self.now)
                self._next()
            else:
                self.refused += 1
                limit.count_refusal(sent, self.now)
                heapq.heappush(again, self.now + _RETRY * self.rng.uniform(0.5, 1.5))
        return self.now

    def _next(self) -> None:
        self.busy -= 1
        while self.queue and self.busy < self.capacity(self.now):
            self._work(self.queue.popleft())

    def _work(self, sent: float) -> None:
        self.busy += 1
        seconds = SECONDS * exp(self.rng.gauss(-(self.spread**2) / 2, self.spread))
        heapq.heappush(self.events, (self.now + seconds, sent, True))
