"""When a server is asked again, and when it is not asked any more."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from time import monotonic

from bench_assets.core.chat import Reply
from bench_assets.core.errors import ModelError
from resources.server.waits import back_off
from resources.settings.server_spec import ServerSpec

_log = logging.getLogger("bench_assets.server")
AS_OFTEN_AS_ALLOWED = 1_000_000
_POLL = 5.0  # s; about as often is asked whether a model is loaded
_ROUND = 8  # requests lost in a row that say: the server is gone, where few are under way at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A try that brought no reply."""

    what: str  # "HTTP 503"
    detail: str = ""  # what the server says about it
    tries: int = 1  # how many are worth it: 1 if the same request can only fail again
    wait: float = 0.0  # s; what the server asks for
    unreachable: bool = False  # no connection came about
    refused: bool = False  # is about how we ask, not what: a wrong key, model name or address
    advice: str = ""  # what to do about a refusal
    loading: bool = False  # the server is there, its model not yet

    @property
    def is_overload(self) -> bool:
        """Whether there was a server, and the same request may do later on."""
        return self.tries == AS_OFTEN_AS_ALLOWED and not (self.unreachable or self.loading)

    def __str__(self) -> str:
        """What happened, and what the server says about it."""
        return f"{self.what}: {self.detail}" if self.detail else self.what


class Retrying:
    """Tries requests to one server, and sees when trying has become pointless for all of them.

    A request is tried again with exponential back-off and jitter, never earlier than the server
    asks for (Retry-After), and bounded in number and time; while a model is being loaded, in time
    only. A server counts as gone when a request is given up and nothing came back meanwhile, either
    because no connection came about, or after a whole round of such requests.
    """

    def __init__(self, spec: ServerSpec, base_delay: float, rng: random.Random) -> None:
        self._spec = spec
        self._where = spec.place
        self._base_delay = base_delay
        self._rng = rng
        self._answered_at = -1.0  # s on the monotonic clock; below 0: never
        self._lost = 0  # requests given up since anything came back
        self._gone = asyncio.Event()
        self._why_gone = ""

    async def reply(self, ask: Callable[[], Awaitable[Reply | Failure]]) -> Reply:
        """Ask until a reply comes or no further try is worth it; then the reply has ``error``.

        Raises:
            ModelError: If the server refuses us, or is gone, before it ever gave a reply.
        """
        started, tries = monotonic(), 0
        while not self._gone.is_set():
            outcome = await ask()
            tries += 1
            if isinstance(outcome, Reply):
                self._answered_at, self._lost = monotonic(), 0
                return outcome
            allowed = AS_OFTEN_AS_ALLOWED if outcome.loading else self._spec.max_tries
            most, wait = min(outcome.tries, allowed), self._wait(outcome, tries)
            if tries >= most or monotonic() + wait > started + self._spec.max_wait:
                return self._give_up(outcome, tries, started)
            where = f"{self._spec.model} at {self._where}"
            _log.warning("%s: %s; try %d/%d in %.2f s", where, outcome.what, tries + 1, most, wait)
            await self._pause(wait)
        return Reply(error=self._why_gone)

    def _wait(self, failure: Failure, tries: int) -> float:
        longest = _POLL if failure.loading else inf
        return back_off(tries, self._base_delay, self._rng, asked_for=failure.wait, longest=longest)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._gone.wait(), seconds)

    def _give_up(self, failure: Failure, tries: int, started: float) -> Reply:
        if failure.refused and self._answered_at < 0:
            todo = f"; {failure.advice}" if failure.advice else ""
            self._why_gone = f"{self._where}: {failure}{todo}"
            self._gone.set()
            raise ModelError(self._why_gone)
        if failure.tries == 1:
            self._lost = 0  # the server is there: it has looked at the request
            return Reply(error=str(failure))
        self._lost += 1
        if self._answered_at < started and self._lost >= self._patience(failure):
            self._why_gone = f"{self._where} cannot be reached any more: {failure}"
            self._gone.set()
            if self._answered_at < 0:
                raise ModelError(f"{self._where}: cannot be reached: {failure}")
        return Reply(error=f"{failure} (tries: {tries})")

    def _patience(self, failure: Failure) -> int:
        return 1 if failure.unreachable else max(_ROUND, self._spec.concurrency)
