"""Service discovery: servers announced through a shared database.

An announcement is a lease by the database's clock, renewed by its owner. It holds an address and no
key. ``AnnouncedServers`` probes which announced servers are reachable and serve the expected
weights.
"""

import logging
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from functools import cached_property
from time import monotonic
from typing import Protocol

from bench_assets.core.schema.provenance import text_digest
from resources.http.pages import fetch_page
from resources.models.managed.process import ReadinessProbe, other_weights
from resources.storage.database import Database
from resources.storage.leases import Leases
from resources.storage.locks import LeaseLocks
from resources.storage.sqlite import PATIENCE

LEASE = 30.0  # s without renewal after which a server is gone


_PREFIX = "server:"


class Board(Protocol):
    """Port of the announcements of interchangeable servers."""

    def say(self, addresses: Collection[str], patience: float = PATIENCE) -> None:
        """Replace our announcements by these addresses, and renew their lease."""
        ...

    def others(self, patience: float = PATIENCE) -> list[str]:
        """The addresses that other homes announce."""
        ...

    def starting(self, waits: Callable[[str], object]) -> AbstractContextManager[None]:
        """The lock for starting servers; waits for its holder."""
        ...


class Announcements:
    """Announcements in a database; methods raise HomeError if it is unavailable."""

    def __init__(
        self, database: Database, served: Callable[[], str], shown: str, lease: float = LEASE
    ) -> None:
        """Store the configuration; no connection is opened yet.

        Args:
            database: The shared database.
            served: Identity of interchangeable servers: weights, command, name of the model;
                computed on demand.
            shown: Description of the servers for messages.
            lease: Duration of an announcement in s.
        """
        self._shown = shown
        self._locks = LeaseLocks(database)
        self._database, self._lease = database, lease
        self._get_served = served
        self._said: set[str] = set()
        self._said_at = 0.0  # s on the monotonic clock

    def say(self, addresses: Collection[str], patience: float = PATIENCE) -> None:
        """Replace our announcements by these addresses; renews the lease when due.

        Args:
            addresses: Addresses for other machines; replace earlier ones.
            patience: Longest outage of the database in s.
        """
        is_old = bool(addresses) and monotonic() - self._said_at > self._lease / 4
        if set(addresses) == self._said and not is_old:
            return
        self._leases.release(_keys(self._said.difference(addresses)), patience)
        self._leases.take_over(_keys(addresses), patience)
        self._said, self._said_at = set(addresses), monotonic()

    def others(self, patience: float = PATIENCE) -> list[str]:
        """The addresses that other homes announce."""
        return self._leases.others(_PREFIX, patience)

    def starting(self, waits: Callable[[str], object]) -> AbstractContextManager[None]:
        """The lock for starting servers; waits for its holder."""

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


class AnnouncedServers:
    """Probes announced addresses; logs an unreachable one once."""

    def __init__(
        self, asked: ReadinessProbe, again: float = _AGAIN, within: float = _ANSWER
    ) -> None:
        """Store the probe.

        Args:
            asked: Criteria of readiness, with the path of the weights here.
            again: Time in s until an unreachable one is probed again.
            within: Timeout in s.
        """
        self._asked = asked
        self._again = again
        self._within = within
        self._late: dict[str, int] = {}  # those that can be asked -> looks without an answer
        self._not_before: dict[
            str, float
        ] = {}  # s on the monotonic clock; also marks reported ones

    def those_of(self, addresses: Iterable[str]) -> list[str]:
        """The reachable addresses, in order."""
        good = {one: late for one in addresses if (late := self._look(one)) < _MOST_LATE}
        self._late = good
        return list(good)

    def _look(self, address: str) -> int:
        """Number of timeouts in a row; ``_MOST_LATE`` for an unreachable server."""
        if monotonic() < self._not_before.get(address, 0.0):
            return _MOST_LATE
        is_known = address in self._late
        why = why_not(address, self._asked, self._within, is_known=is_known)
        if not why:
            return 0
        if why == _LATE and is_known and (late := self._late[address] + 1) < _MOST_LATE:
            return late
        if address not in self._not_before:
            _log.warning("%s is announced, but not used: %s", address, why)
        self._not_before[address] = monotonic() + self._again
        return _MOST_LATE


def why_not(
    address: str, asked: ReadinessProbe, within: float = _ANSWER, *, is_known: bool = False
) -> str:
    """Why an announced server cannot be used; "" if it can.

    Args:
        address: Announced address, such as ``http://node-a:4000/v1``.
        asked: Criteria of readiness.
        within: Timeout in s.
        is_known: Whether its models were checked before, so that its health suffices.
    """
    try:
        status, body = fetch_page(address, asked.health, timeout=within)
        has_page = status not in (404, 405)
        if not has_page or (status == 200 and not is_known):
            models, body = fetch_page(address, "/v1/models", timeout=within)
            status = status if has_page else models
        if status != 200:
            return f"HTTP {status}" if status else body.decode()
        other = "" if is_known else other_weights(body, asked.model, asked.path)
    except TimeoutError:
        return _LATE
    except OSError as why:  # the weights here are gone
        return str(why)
    return f"it says that {asked.model} is {other}, not {asked.path}" if other else ""
