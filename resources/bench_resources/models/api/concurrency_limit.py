"""Concurrency limit of one server, adapted to its latency and its refusals."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from math import exp, inf, log, sqrt
from time import monotonic
from typing import NamedTuple

from bench_assets.core.schema.chat import Response
from bench_resources.config.addresses import fill_keys
from bench_resources.config.environment import section_secrets
from bench_resources.config.sections.servers import INITIAL_CONCURRENCY, ServerSpec
from bench_resources.http.backoff import Failure

MAX_CONCURRENCY = 512
"""Maximum concurrent requests to one server: a process has 1,024 files and connections."""

_MIN_ROUND = 8  # responses per round, at least
_PER_VARIANCE = 120.0  # responses per round and unit of variance that make _QUEUEING significant
_QUEUEING = 1.3  # times the latency without load, above which requests queue at the server
_MIN_LATENCY = 1e-6  # s, smallest latency, so that its logarithm is finite
_MIN_GAIN = 0.5  # share of the expected gain; if a cut gains less, load was not the cause
_MIN_SHARE = 0.25  # of the limit, kept by a cut
_GROWTH = (1.1, 1.25, 1.5, 2.0)  # by the number of rounds without queueing
_BELOW_REFUSAL = 0.95  # share of the limit at which the server refused
_ROUNDS_BELOW = 40  # rounds before the limit of a refusal is tried again


class _Cut(NamedTuple):
    """The last round before the limit was cut."""

    limit: float
    seconds: float  # mean latency


class ConcurrencyLimit:
    """Maximum concurrent requests to a server.

    A configured limit is the start and the maximum. A refusal (HTTP 429 or 5xx, or a timeout)
    halves it, and each round of responses adds one: additive increase, multiplicative decrease
    (Chiu and Jain, 1989), as in TCP.

    Otherwise the limit is searched for. It grows while a round of responses takes no longer than
    an unloaded one, and shrinks in proportion when it does, as in TCP Vegas (Brakmo and Peterson,
    1995): beyond the server's capacity, more requests only queue longer. If a smaller limit does
    not make responses faster, the responses have become longer, and the cut is undone. After a
    refusal it stays below the refused limit for a while; another one right afterwards halves it.
    """

    def __init__(self, configured: int | None) -> None:
        """Begin at the configured limit; without one, search for it."""
        self._maximum = float(configured or MAX_CONCURRENCY)
        self.value = float(configured or INITIAL_CONCURRENCY)  # fractions add up to whole requests
        self._searches = configured is None
        self._target = self.value  # approached by one request per response
        self._changed_at = -inf  # s, when the limit last changed
        self._lowered_at = -inf  # s, when a refusal last lowered it
        self._n, self._sum, self._squares = 0, 0.0, 0.0  # of this round, over log(s)
        self._unloaded = inf  # s, mean of the fastest round
        self._cut: _Cut | None = None  # if the last round ended with a cut
        self._free_rounds = len(_GROWTH)  # consecutive rounds without queueing
        self._refused_at, self._rounds_below = inf, 0

    def count_response(self, sent_at: float, now: float) -> None:
        """Adapt to a response; its latency is ignored if it was sent before the last change."""
        if not self._searches:
            self.value = min(self.value + 1 / self.value, self._maximum)
        elif self.value < self._target:
            self.value = min(self.value + 1, self._target)
            self._begin_round(now)
        elif sent_at >= self._changed_at:
            log_seconds = log(max(now - sent_at, _MIN_LATENCY))
            self._n, self._sum = self._n + 1, self._sum + log_seconds
            self._squares += log_seconds * log_seconds
            mean = self._sum / self._n
            variance = self._squares / self._n - mean * mean
            if self._n >= max(self.value / 2, _MIN_ROUND, _PER_VARIANCE * variance):
                self._end_round(exp(mean), now)

    def count_refusal(self, sent_at: float, now: float) -> None:
        """Lower the limit, once for all requests that were open together."""
        if sent_at < self._lowered_at:
            return
        self._lowered_at = now
        is_repeated = self._free_rounds == 0
        self._refused_at, self._rounds_below, self._free_rounds = self.value, 0, 0
        factor = 0.5 if is_repeated or not self._searches else _BELOW_REFUSAL
        self._set(self.value * factor, now)

    def _end_round(self, mean: float, now: float) -> None:
        """Change the limit by the mean latency in s of a round."""
        cut, self._cut = self._cut, None
        if mean <= _QUEUEING * self._unloaded:
            self._unloaded = min(mean, sqrt(mean * self._unloaded))
            self._set(self._count_free_round(), now)
        elif cut and self._is_useless(cut, mean):
            self._unloaded = mean
            self._set(cut.limit, now)
        else:
            self._cut = _Cut(limit=self.value, seconds=mean)
            share = self._unloaded / mean
            self._set(self.value * max(share * _GROWTH[0], _MIN_SHARE), now)
            self._free_rounds = 0

    def _is_useless(self, cut: _Cut, mean: float) -> bool:
        """Whether the mean latency in s fell less after a cut than the cut explains."""
        expected_gain = 1 - self.value / cut.limit
        return mean > cut.seconds * (1 - _MIN_GAIN * expected_gain)

    def _count_free_round(self) -> float:
        """Count a round without queueing, and return the next limit."""
        growth = _GROWTH[min(self._free_rounds, len(_GROWTH) - 1)]
        self._free_rounds += 1
        grown = max(self.value * growth, self.value + 1)
        if grown < self._refused_at * _BELOW_REFUSAL:
            return grown
        self._rounds_below += 1
        if self._rounds_below < _ROUNDS_BELOW:
            return max(self.value, self._refused_at * _BELOW_REFUSAL)
        # Try beyond the refused limit again; another refusal in this round halves the limit.
        self._refused_at, self._free_rounds = inf, 0
        return max(self.value * _GROWTH[0], self.value + 1)

    def _set(self, value: float, now: float) -> None:
        """Set the limit: a lower one at once, a higher one as the target of the next responses."""
        self._target = min(max(value, 1.0), self._maximum)
        self.value = min(self.value, self._target)
        self._begin_round(now)

    def _begin_round(self, now: float) -> None:
        self._changed_at = now
        self._n, self._sum, self._squares = 0, 0.0, 0.0


class Endpoint:
    """The address of a model, its secrets and its concurrency limit."""

    def __init__(self, spec: ServerSpec, path: str) -> None:
        # Azure wants its api-version in the query.
        base, question_mark, query = fill_keys(spec.address).partition("?")
        self.url = f"{base.rstrip('/')}{path}{question_mark}{query}"
        self.secrets = section_secrets(spec.model_dump())
        self.limit = ConcurrencyLimit(None if spec.concurrency == "auto" else spec.concurrency)
        self.on_growth: Callable[[], None] = lambda: None  # called when more requests may be open
        self._n_open = 0
        self._slot_freed = asyncio.Condition()

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Wait until the limit allows one more request, and count it as open."""
        async with self._slot_freed:
            await self._slot_freed.wait_for(lambda: self._n_open < int(self.limit.value))
            self._n_open += 1
        try:
            yield
        finally:
            self._n_open -= 1
            async with self._slot_freed:
                self._slot_freed.notify(2)  # this slot, and one by which the limit may have grown

    def adapt_limit(self, outcome: Response | Failure, sent_at: float) -> None:
        """Adapt the limit to the outcome of a request sent at ``sent_at`` (monotonic clock)."""
        if isinstance(outcome, Response):
            self.limit.count_response(sent_at, monotonic())
        elif outcome.is_overload:
            self.limit.count_refusal(sent_at, monotonic())
        self.on_growth()
