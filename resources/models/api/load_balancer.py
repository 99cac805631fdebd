"""Load balancer over the addresses of one model, which may change during a run."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.text.redaction import Secrets, without_keys
from resources.config.addresses import template_of, with_keys
from resources.config.environment import section_secrets
from resources.config.sections.servers import ServerSpec, is_url
from resources.http.backoff import Failure
from resources.models.api.concurrency_limit import ConcurrencyLimit

_REST = 5.0  # s; an address without a connection is left alone for so long, if there are others


class Endpoint:
    """One address and its concurrency limit."""

    def __init__(self, address: str, path: str, spec: ServerSpec) -> None:
        # Azure wants its api-version in the query.
        base, question_mark, query = with_keys(address).partition("?")
        self.url = f"{base.rstrip('/')}{path}{question_mark}{query}"
        self.limit = ConcurrencyLimit(None if spec.concurrency == "auto" else spec.concurrency)
        self.under_way = 0
        self._rests_until = 0.0  # s on the monotonic clock

    @property
    def rests(self) -> bool:
        """Whether the last connection failed a moment ago."""
        return monotonic() < self._rests_until

    @property
    def has_room(self) -> bool:
        """Whether the limit allows one more request."""
        return self.under_way < int(self.limit.value)

    def learn(self, outcome: Response | Failure, sent_at: float) -> None:
        """Adapt the limit to the outcome of a request sent at ``sent_at`` (monotonic clock)."""
        if isinstance(outcome, Failure):
            if outcome.unreachable:
                self._rests_until = monotonic() + _REST
            elif outcome.is_overload:
                self.limit.refused(sent_at, monotonic())
        else:
            self.limit.answered(sent_at, monotonic())


class Endpoints:
    """The addresses of one model; each request goes to the least loaded one.

    They may change while requests wait; without any, requests wait for one.
    """

    def __init__(self, spec: ServerSpec, path: str, addresses: Iterable[str]) -> None:
        self._spec = spec
        self._path = path
        self._all: dict[str, Endpoint] = {}
        self._secrets = section_secrets(spec.model_dump())
        self._known: set[str] = set()
        self._freed = asyncio.Condition()
        self.on_growth: Callable[[], None] = lambda: None  # more requests may be open
        self._take(addresses)

    @property
    def secrets(self) -> Secrets:
        """Secrets of the section, and of every address that was used."""
        return self._secrets

    @property
    def bear(self) -> int:
        """Number of requests that may be open now, over all addresses; one waits for the first."""
        return max(1, sum(int(one.limit.value) for one in self._all.values()))

    async def now(self, addresses: Iterable[str]) -> None:
        """Replace the addresses; those that stay keep their limits."""
        if set(addresses) != self._all.keys():
            async with self._freed:
                self._take(addresses)
                self._freed.notify_all()

    @asynccontextmanager
    async def least_loaded(self) -> AsyncGenerator[Endpoint]:
        """Wait until an address has room, and reserve a place there."""
        async with self._freed:
            await self._freed.wait_for(self._free)
            chosen = min(self._free(), key=lambda one: one.under_way / one.limit.value)
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
    """The addresses of a section and of its file, re-read at each call."""

    def __init__(self, spec: ServerSpec) -> None:
        self._spec = spec
        self._file = Path(spec.addresses_file)
        self._last: list[str] = []
        self._passed_over: set[str] = set()
        self._empty_since: float | None = None  # s on the monotonic clock

    def __call__(self) -> list[str]:
        """The current addresses; the last known ones if the file cannot be read."""
        try:
            lines = self._file.read_text("utf-8", "replace").splitlines()
        except OSError as why:
            if not (self._last or self._spec.addresses):
                raise ModelError(f"{self._file}: cannot be read: {why.strerror}") from why
            return self._last or list(self._spec.addresses)
        written = [line.strip() for line in lines]
        named = [one.rstrip("/") for one in written if one and not one.startswith("#")]
        taken = map(template_of, filter(self._taken, named))
        self._last = list(dict.fromkeys([*self._spec.addresses, *taken]))
        self._refuse_to_wait_longer()
        return self._last

    def _taken(self, address: str) -> bool:
        if is_url(address):
            return True
        if address not in self._passed_over:
            self._passed_over.add(address)
            _log.warning("%s: no address: %s", self._file, without_keys(address))
        return False

    def _refuse_to_wait_longer(self) -> None:
        if self._last:
            self._empty_since = None
            return
        self._empty_since = monotonic() if self._empty_since is None else self._empty_since
        if monotonic() - self._empty_since > self._spec.max_wait:
            raise ModelError(f"{self._file}: no address for {self._spec.max_wait:g} s (max_wait)")
