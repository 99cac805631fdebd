"""How often somebody may do something: buckets that fill again, one for each person or address."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import Literal, TypeAlias

What: TypeAlias = Literal["page", "answer", "upload", "link"]

_KEPT = 10_000  # buckets; who was not there for longest is forgotten, with a full one


@dataclass(frozen=True, slots=True)
class Rate:
    """At once, and again each second."""

    burst: float
    each_second: float


RATES: dict[What, Rate] = {
    "page": Rate(300, 20),
    "answer": Rate(60, 2),  # nobody reads faster
    "upload": Rate(20, 0.2),
    "link": Rate(20, 0.2),  # that open nothing: guesses, from one address
}


@dataclass(slots=True)
class Limits:
    """What everybody has left."""

    rates: dict[What, Rate] = field(default_factory=RATES.copy)
    clock: Callable[[], float] = monotonic  # s
    _left: OrderedDict[tuple[What, str], tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def take(self, what: What, who: str) -> float:
        """Take one.

        Returns:
            0, or in how many s there is one again.
        """
        rate, now = self.rates[what], self.clock()
        with self._lock:
            left, seen = self._left.pop((what, who), (rate.burst, now))
            left = min(rate.burst, left + (now - seen) * rate.each_second)
            enough = left >= 1
            self._left[what, who] = left - enough, now
            while len(self._left) > _KEPT:
                self._left.popitem(last=False)
        return 0.0 if enough else (1 - left) / rate.each_second
