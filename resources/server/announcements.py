"""Where servers for the same weights answer: what homes that share a database tell one another.

An announcement is a lease by the database's clock. Who started a server says from time to time that
it is there; one whose owner says nothing any more counts as gone. No key is announced: only where.
"""

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from functools import cached_property
from hashlib import sha256
from time import monotonic
from typing import Protocol
from uuid import uuid4

from resources.database.postgres import PATIENCE, Connection, Database
from resources.home.shared_locks import SharedLocks

LEASE = 30.0  # s after which a server of which nobody says anything is gone
_VERSION = 1
_SCHEMA = """
CREATE TABLE bench_servers (address text PRIMARY KEY, served bytea NOT NULL, owner text NOT NULL,
    until timestamptz NOT NULL);
"""
_SAY = """
INSERT INTO bench_servers
SELECT ours, %(served)s, %(owner)s, clock_timestamp() + %(lease)s * interval '1 second'
FROM unnest(%(addresses)s::text[]) AS ours
ON CONFLICT (address) DO UPDATE
SET served = excluded.served, owner = excluded.owner, until = excluded.until
"""
_TAKE_BACK = """
DELETE FROM bench_servers WHERE owner = %(owner)s AND NOT address = ANY(%(addresses)s::text[])
    OR until < clock_timestamp() - interval '1 hour'
"""
# A database that was away has heard nobody: all have another lease to say that they are there.
_OTHERS = """
SELECT address FROM bench_servers WHERE served = %(served)s AND owner <> %(owner)s
    AND (until >= clock_timestamp()
        OR pg_postmaster_start_time() > clock_timestamp() - %(lease)s * interval '1 second')
ORDER BY address
"""


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
    """Announcements in a database. A method raises HomeError where it cannot be used."""

    def __init__(
        self, database: Database, served: Callable[[], str], shown: str, lease: float = LEASE
    ) -> None:
        """Say of what; nothing is opened yet.

        Args:
            database: That all homes name.
            served: What the servers have in common: the content of weights, the command, the name
                that they know them by; told when it is needed.
            shown: The same for people, told to those that wait.
            lease: s for which an announcement holds.
        """
        self._database = database
        self._shown = shown
        self._lease = lease
        self._locks = SharedLocks(database)
        self._told = served
        self._owner = uuid4().hex
        self._said: set[str] = set()
        self._said_at = 0.0  # s on the monotonic clock
        self._is_ready = False

    def say(self, addresses: Collection[str], patience: float = PATIENCE) -> None:
        """Announce ours, all of them and no others, for another lease; writes when it is time.

        Args:
            addresses: As others reach them; what was said before and is not among them is gone.
            patience: s for which the database may be away.
        """
        is_old = bool(addresses) and monotonic() - self._said_at > self._lease / 4
        if set(addresses) == self._said and not is_old:
            return
        given = self._given | {"addresses": sorted(addresses)}

        def write(db: Connection) -> None:
            db.execute(_TAKE_BACK, given)
            db.execute(_SAY, given)

        self._ready_database().run(write, patience)
        self._said, self._said_at = set(addresses), monotonic()

    def others(self, patience: float = PATIENCE) -> list[str]:
        """The addresses that others announce."""

        def look(db: Connection) -> list[str]:
            return [str(row["address"]) for row in db.execute(_OTHERS, self._given)]

        return self._ready_database().run(look, patience)

    def starting(self, waits: Callable[[str], object]) -> AbstractContextManager[None]:
        """The right to start servers, which one has at a time; waits for whoever has it."""

        def tell(why: str) -> None:
            waits(f"servers for {self._shown}: {why.partition(': ')[2]}")

        return self._locks.held([f"servers {self._served.hex()}"], tell)

    @cached_property
    def _served(self) -> bytes:
        return sha256(self._told().encode()).digest()

    @property
    def _given(self) -> dict[str, object]:
        return {"served": self._served, "owner": self._owner, "lease": self._lease}

    def _ready_database(self) -> Database:
        if not self._is_ready:
            self._database.make_ready("servers", _VERSION, _SCHEMA)
            self._is_ready = True
        return self._database
