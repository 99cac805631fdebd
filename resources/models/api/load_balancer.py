"""Load balancer over the addresses of one model."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import Secrets, without_named
from resources.config.environment import section_secrets
from resources.config.sections.servers import ServerSpec, is_url
from resources.http.backoff import Failure

_REST = 5.0  # s; an address without a connection is left alone for so long, if there are others


class Endpoint:
    """One address, and how many requests it bears at once.

    Their number starts at the upper bound. It is halved when the address is overloaded (HTTP 429
    or 5xx, no response in time, or one slower than configured) and grows by one with each round of
    responses: additive increase, multiplicative decrease (Chiu and Jain, 1989), as in TCP.
    """

    def __init__(self, address: str, path: str, spec: ServerSpec) -> None:
        base, question_mark, query = address.partition("?")  # Azure wants its api-version there
        self.url = f"{base.rstrip('/')}{path}{question_mark}{query}"
        self.limit = float(spec.concurrency)  # requests; fractions of one gather until it is whole
        self.under_way = 0
        self._spec = spec
        self._halved_at = 0.0  # s on the monotonic clock, as the next
        self._rests_until = 0.0

    @property
    def rests(self) -> bool:
        """Whether there was no connection a short while ago."""
        return monotonic() < self._rests_until

    @property
    def has_room(self) -> bool:
        """Whether one more request may be sent."""
        return self.under_way < int(self.limit)

    def learn(self, outcome: Response | Failure, sent_at: float) -> None:
        """Take what became of a request, sent at a time on the monotonic clock, as a sign."""
        if isinstance(outcome, Failure):
            if outcome.unreachable:
                self._rests_until = monotonic() + _REST
            elif outcome.is_overload:
                self._bear_less(sent_at)
        elif self._spec.slow is not None and monotonic() - sent_at > self._spec.slow:
            self._bear_less(sent_at)
        else:
            self.limit = min(self.limit + 1 / self.limit, float(self._spec.concurrency))

    def _bear_less(self, sent_at: float) -> None:
        """Halve the number, once for all requests that were under way together."""
        if sent_at >= self._halved_at:
            self._halved_at = monotonic()
            least = min(self._spec.min_concurrency, self._spec.concurrency)
            self.limit = max(self.limit / 2, float(least))


class Endpoints:
    """The addresses of one model; each request goes where there is most room.

    They may change while requests wait: a new address is asked at once, one that is gone no more,
    and with none at all requests wait for one.
    """

    def __init__(self, spec: ServerSpec, path: str, addresses: Iterable[str]) -> None:
        self._spec = spec
        self._path = path
        self._all: dict[str, Endpoint] = {}
        self._secrets = section_secrets(spec.model_dump())
        self._known: set[str] = set()
        self._freed = asyncio.Condition()
        self._take(addresses)

    @property
    def secrets(self) -> Secrets:
        """What is secret of the section, and of every address that was asked."""
        return self._secrets

    @property
    def bear(self) -> int:
        """How many requests they bear at once, at most; with none, as many as one would."""
        return self._spec.concurrency * max(1, len(self._all))

    async def now(self, addresses: Iterable[str]) -> None:
        """Take other addresses; those that stay keep what was learned of them."""
        if set(addresses) != self._all.keys():
            async with self._freed:
                self._take(addresses)
                self._freed.notify_all()

    @asynccontextmanager
    async def least_loaded(self) -> AsyncGenerator[Endpoint]:
        """Wait until an address has room, and take a place there."""
        async with self._freed:
            await self._freed.wait_for(self._free)
            chosen = min(self._free(), key=lambda one: one.under_way / one.limit)
            chosen.under_way += 1
        try:
            yield chosen
        finally:
            chosen.under_way -= 1
            async with self._freed:
                self._freed.notify(2)  # the place, and one by which the number may have grown

    def _take(self, addresses: Iterable[str]) -> None:
        self._all = {
            one: self._all.get(one) or Endpoint(one, self._path, self._spec) for one in addresses
        }
        if not self._known.issuperset(self._all):
            self._known.update(self._all)
            self._secrets = section_secrets([self._spec.model_dump(), sorted(self._known)])

    def _free(self) -> list[Endpoint]:
        every = list(self._all.values())
        awake = [one for one in every if not one.rests] or every
        return [one for one in awake if one.has_room]


_log = logging.getLogger("bench_assets.server")


class AddressFile:
    """Reads the addresses of a section and of its file; blank lines, and those with #, are none."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._file = Path(spec.addresses_file)
        self._last: list[str] = []
        self._passed_over: set[str] = set()
        self._empty_since: float | None = None  # s on the monotonic clock

    def __call__(self) -> list[str]:
        """Where to ask at the moment; what was there the last time, if the file cannot be read.

        Raises:
            ModelError: If it never could be read, or there has been no address for ``max_wait``.
        """
        try:
            lines = self._file.read_text("utf-8", "replace").splitlines()
        except OSError as why:
            if not (self._last or self._spec.addresses):
                raise ModelError(f"{self._file}: cannot be read: {why.strerror}") from why
            return self._last or list(self._spec.addresses)
        written = [line.strip() for line in lines]
        named = [one.rstrip("/") for one in written if one and not one.startswith("#")]
        self._last = list(dict.fromkeys([*self._spec.addresses, *filter(self._taken, named)]))
        self._refuse_to_wait_longer()
        return self._last

    def _taken(self, address: str) -> bool:
        if is_url(address):
            return True
        if address not in self._passed_over:
            self._passed_over.add(address)
            _log.warning("%s: no address: %s", self._file, without_named(address))
        return False

    def _refuse_to_wait_longer(self) -> None:
        if self._last:
            self._empty_since = None
            return
        self._empty_since = monotonic() if self._empty_since is None else self._empty_since
        if monotonic() - self._empty_since > self._spec.max_wait:
            raise ModelError(f"{self._file}: no address for {self._spec.max_wait:g} s (max_wait)")
