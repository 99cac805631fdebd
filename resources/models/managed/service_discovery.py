"""Service discovery: servers announced through a shared database.

An announcement is a lease by the database's clock. Who started a server says from time to time that
it is there; one whose owner says nothing any more counts as gone. No key is announced: only where.

Which of the servers that others announce can be asked from here, and are what was meant.
"""

import http.client
import logging
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from functools import cached_property
from time import monotonic
from typing import Protocol
from urllib.parse import urlsplit

from bench_assets.core.schema.provenance import text_digest
from resources.models.managed.process import ReadinessProbe, other_weights
from resources.storage.database import Database
from resources.storage.leases import Leases
from resources.storage.locks import LeaseLocks
from resources.storage.sqlite import PATIENCE

LEASE = 30.0  # s after which a server of which nobody says anything is gone


_PREFIX = "server:"


class Board(Protocol):
    """The port to announcements of servers for one and the same."""

    def say(self, addresses: Collection[str], patience: float = PATIENCE) -> None:
        """Announce ours, all of them and no others, for another lease."""
        ...

    def others(self, patience: float = PATIENCE) -> list[str]:
        """The addresses that others announce."""
        ...

    def starting(self, waits: Callable[[str], object]) -> AbstractContextManager[None]:
        """The right to start servers, which one has at a time; waits for whoever has it."""
        ...


class Announcements:
    """Announcements in a database; methods raise HomeError where it cannot be used."""

    def __init__(
        self, database: Database, served: Callable[[], str], shown: str, lease: float = LEASE
    ) -> None:
        """Name what is served; nothing is opened yet.

        Args:
            database: The one that all homes name.
            served: What the servers have in common: content of weights, command, name of the
                model; called when it is needed.
            shown: The same for people, in messages to those that wait.
            lease: s for which an announcement holds.
        """
        self._shown = shown
        self._locks = LeaseLocks(database)
        self._database, self._lease = database, lease
        self._get_served = served
        self._said: set[str] = set()
        self._said_at = 0.0  # s on the monotonic clock

    def say(self, addresses: Collection[str], patience: float = PATIENCE) -> None:
        """Announce ours, all of them and no others, for another lease; writes when it is time.

        Args:
            addresses: As others reach them; what was said before and is not among them is gone.
            patience: s for which the database may be away.
        """
        is_old = bool(addresses) and monotonic() - self._said_at > self._lease / 4
        if set(addresses) == self._said and not is_old:
            return
        self._leases.release(_keys(self._said.difference(addresses)), patience)
        self._leases.take_over(_keys(addresses), patience)
        self._said, self._said_at = set(addresses), monotonic()

    def others(self, patience: float = PATIENCE) -> list[str]:
        """The addresses that others announce."""
        return self._leases.others(_PREFIX, patience)

    def starting(self, waits: Callable[[str], object]) -> AbstractContextManager[None]:
        """The right to start servers, which one process has at a time; waits for its holder."""

        def tell(why: str) -> None:
            waits(f"servers for {self._shown}: {why.partition(': ')[2]}")

        return self._locks.held([f"servers {self._leases.note}"], tell)

    @cached_property
    def _leases(self) -> Leases:
        return Leases(self._database, self._lease, note=text_digest(self._get_served()))


def _keys(addresses: Collection[str]) -> list[str]:
    return [f"{_PREFIX}{address}" for address in addresses]


_log = logging.getLogger("bench_assets.server")
_ANSWER = 2.0  # s; longest wait for one
_LATE = "no answer in time"
_MOST_LATE = 5  # looks in a row without an answer in time, as of one that has much to do
_AGAIN = 10.0  # s until one is looked at again that could not be asked
_MOST_BYTES = 1 << 20


class AnnouncedServers:
    """Looks at announced addresses, again and again; one that cannot be asked is told once."""

    def __init__(
        self, asked: ReadinessProbe, again: float = _AGAIN, within: float = _ANSWER
    ) -> None:
        """Say what they are to be.

        Args:
            asked: What they are to answer and to have; the path is that of the weights here.
            again: s until one is looked at again that could not be asked.
            within: s; longest wait for an answer.
        """
        self._asked = asked
        self._again = again
        self._within = within
        self._late: dict[str, int] = {}  # those that can be asked -> looks without an answer
        self._not_before: dict[str, float] = {}  # s on the monotonic clock; also: who was told of

    def those_of(self, addresses: Iterable[str]) -> list[str]:
        """Those of the addresses that can be asked, in their order."""
        good = {one: late for one in addresses if (late := self._look(one)) < _MOST_LATE}
        self._late = good
        return list(good)

    def _look(self, address: str) -> int:
        """How many looks in a row a server has not answered in time; the most for one to leave."""
        if monotonic() < self._not_before.get(address, 0.0):
            return _MOST_LATE
        is_known = address in self._late
        why = why_not(address, self._asked, self._within, is_known=is_known)
        if not why:
            return 0
        if why == _LATE and is_known and (late := self._late[address] + 1) < _MOST_LATE:
            return late
        if address not in self._not_before:
            _log.warning("%s is announced, but not asked: %s", address, why)
        self._not_before[address] = monotonic() + self._again
        return _MOST_LATE


def why_not(
    address: str, asked: ReadinessProbe, within: float = _ANSWER, *, is_known: bool = False
) -> str:
    """Why a server cannot be asked from here, or is not what was meant; "" if nothing is wrong.

    Args:
        address: As it is announced: ``http://node-a:4000/v1``.
        asked: What it is to answer and to have.
        within: s; longest wait for an answer.
        is_known: It was asked which models it has, and is there as long as it says it is well.
    """
    try:
        status, _ = _get(address, asked.health, within)
        has_page = status not in (404, 405)
        if has_page and status != 200:
            return f"HTTP {status}"
        if is_known:
            return ""
        status, body = _get(address, "/v1/models", within)
        if not has_page and status != 200:
            return f"HTTP {status}"
        other = other_weights(body, asked.model, asked.path)
    except TimeoutError:
        return _LATE
    except (OSError, http.client.HTTPException, ValueError) as why:  # ValueError: no address
        return str(why) or type(why).__name__
    return f"it says that {asked.model} is {other}, not {asked.path}" if other else ""


def _get(address: str, page: str, within: float) -> tuple[int, bytes]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=within)
    try:
        connection.request("GET", page)
        answer = connection.getresponse()
        return answer.status, answer.read(_MOST_BYTES)
    finally:
        connection.close()
