import heapq
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import exp
from typing import NamedTuple, TypeAlias

from bench_resources.models.api.concurrency_limit import ConcurrencyLimit

Capacity: TypeAlias = Callable[[float], int]  # s -> requests that it works on at once

SECONDS = 0.5  # of a response that does not wait; their logarithms spread normally
_REFUSAL = 0.005  # s until a request is refused
_RETRY = 0.5  # s until it is sent again, on average


class Outcome(NamedTuple):
    """The end of a request, by time."""

    at: float
    sent_at: float
    is_answered: bool


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
    outcomes: list[Outcome] = field(default_factory=list)  # a heap of those to come
    rng: random.Random = field(default_factory=lambda: random.Random(0))

    def send(self) -> None:
        """Take a request."""
        capacity = self.capacity(self.now)
        if self.busy + len(self.queue) >= self.bears * capacity:
            refused_at = self.now + _REFUSAL
            refusal = Outcome(at=refused_at, sent_at=self.now, is_answered=False)
            heapq.heappush(self.outcomes, refusal)
        elif self.busy < capacity:
            self._work(self.now)
        else:
            self.queue.append(self.now)

    def seconds_for(self, n: int, limit: ConcurrencyLimit) -> float:
        """Send n requests as a limit allows, refused ones again; return the seconds they take."""
        n_unsent, n_open = n, 0
        retries: list[float] = []  # a heap of the times at which refused requests are sent again
        while n_unsent or retries or n_open:
            has_room = n_open < int(limit.value)
            is_retry_due = bool(retries) and retries[0] <= self.now
            if has_room and (is_retry_due or n_unsent):
                if is_retry_due:
                    heapq.heappop(retries)
                else:
                    n_unsent -= 1
                n_open += 1
                self.send()
            elif has_room and retries and (not self.outcomes or retries[0] < self.outcomes[0].at):
                self.now = retries[0]
            else:
                n_open -= 1
                if not self._finish_next(limit):
                    heapq.heappush(retries, self.now + _RETRY * self.rng.uniform(0.5, 1.5))
        return self.now

    def _finish_next(self, limit: ConcurrencyLimit) -> bool:
        """Go on to the next outcome, which the limit counts; return whether it is a response."""
        self.now, sent_at, is_answered = heapq.heappop(self.outcomes)
        if is_answered:
            limit.count_response(sent_at, self.now)
            self._take_queued()
        else:
            self.refused += 1
            limit.count_refusal(sent_at, self.now)
        return is_answered

    def _take_queued(self) -> None:
        self.busy -= 1
        while self.queue and self.busy < self.capacity(self.now):
            self._work(self.queue.popleft())

    def _work(self, sent_at: float) -> None:
        self.busy += 1
        seconds = SECONDS * exp(self.rng.gauss(-(self.spread**2) / 2, self.spread))
        response = Outcome(at=self.now + seconds, sent_at=sent_at, is_answered=True)
        heapq.heappush(self.outcomes, response)
