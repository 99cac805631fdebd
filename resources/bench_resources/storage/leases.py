"""Leases: exclusive rights that expire by the clock of the database unless they are renewed.

One table serves all uses: requests in flight, heartbeats of runs, locks of tables, and evaluations
started by sensors.
"""

from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import NamedTuple
from uuid import uuid4

import sqlalchemy as sa

from bench_assets.core.schema.provenance import text_digest
from bench_resources.storage.database import Database, Result
from bench_resources.storage.schema import column_in, leases, upsert
from bench_resources.storage.sqlite import PATIENCE

_CLOCK = {  # s since 1970
    "postgresql": "SELECT extract(epoch FROM clock_timestamp())::double precision",
    "sqlite": "SELECT (julianday('now') - 2440587.5) * 86400.0",
}
_RETENTION_SECONDS = 7 * 86400.0  # s that an expired lease stays, as a sign that its owner was lost
_SERVER_START = "SELECT extract(epoch FROM pg_postmaster_start_time())::double precision"


class LeaseHolder(NamedTuple):
    """The holder of a lease."""

    owner: str
    note: str


class Leases:
    """The leases of one owner."""

    def __init__(self, database: Database, seconds: float, note: str = "") -> None:
        """Name a new owner, whose leases last some ``seconds`` and show others its ``note``."""
        self.database = database
        self.seconds = seconds
        self.owner = uuid4().hex
        self.note = note
        self._is_ready = False

    def take(self, keys: Iterable[str]) -> set[str]:
        """Take the leases that are free, expired or the owner's, and return their keys."""
        return self._write(partial(self._take, sorted(set(keys))))

    def renew(self) -> int:
        """Renew all leases, and return their number."""
        return self._write(partial(self._set_expiry, self.seconds))

    def expire(self) -> None:
        """Expire all leases, as if they had not been renewed."""
        self._write(partial(self._set_expiry, -1.0))

    def release(self, keys: Collection[str] | None = None, patience: float = PATIENCE) -> None:
        """Release leases, all by default; sends nothing if the table was never used."""
        if self._is_ready and (keys is None or keys):
            self._write(partial(self.release_within, keys=keys), patience)

    def release_within(self, connection: sa.Connection, keys: Collection[str] | None) -> None:
        """Release leases within a transaction."""
        statement = sa.delete(leases).where(leases.c.owner == self.owner)
        if keys is not None:
            statement = statement.where(column_in(connection, leases.c.key, sorted(keys)))
        connection.execute(statement)

    def release_of(self, owner: str) -> None:
        """Release all leases of another owner, whose process has ended."""
        statement = sa.delete(leases).where(leases.c.owner == owner)
        self._write(lambda connection: connection.execute(statement))

    def holder(self, key: str) -> LeaseHolder | None:
        """The holder of a lease, also of an expired one; None if nobody holds it."""
        statement = sa.select(leases.c.owner, leases.c.note).where(leases.c.key == key)
        row = self._write(lambda connection: connection.execute(statement).first())
        return LeaseHolder(*row) if row else None

    def is_lost(self, key: str) -> bool:
        """Whether a lease expired without being released; False once it is forgotten.

        After a start of the database, all holders get another period to renew.
        """

        def work(connection: sa.Connection) -> bool:
            until = connection.scalar(sa.select(leases.c.until).where(leases.c.key == key))
            return until is not None and float(until) < self._lost_before(connection)

        return self._write(work)

    def _set_expiry(self, seconds: float, connection: sa.Connection) -> int:
        until = _now(connection) + seconds
        statement = sa.update(leases).where(leases.c.owner == self.owner)
        return int(connection.execute(statement.values(until=until)).rowcount)

    def _take(self, keys: list[str], connection: sa.Connection) -> set[str]:
        now, has_key = _now(connection), column_in(connection, leases.c.key, keys)
        is_ours = leases.c.owner == self.owner
        taken = sa.select(leases.c.key).where(has_key, sa.not_(is_ours), leases.c.until >= now)
        held_by_others = set(connection.scalars(taken))  # not upserted, which would lock their rows
        free = [key for key in keys if key not in held_by_others]
        condition = f"WHERE leases.until < {now!r} OR leases.owner = excluded.owner"
        values = {"owner": self.owner, "note": self.note, "until": now + self.seconds}
        assignments = ", ".join(f"{name} = excluded.{name}" for name in values)
        rows = [{"key": key, **values} for key in free]
        upsert(connection, leases, rows, f"DO UPDATE SET {assignments} {condition}")
        return set(connection.scalars(sa.select(leases.c.key).where(has_key, is_ours)))

    def _lost_before(self, connection: sa.Connection) -> float:
        """Expiry time before which a lease counts as lost."""
        now = _now(connection)
        if connection.dialect.name == "postgresql":
            server_start = connection.exec_driver_sql(_SERVER_START).scalar_one()
            if server_start > now - self.seconds:
                return 0.0
        return now

    def _write(self, work: Callable[[sa.Connection], Result], patience: float = PATIENCE) -> Result:
        if not self._is_ready:
            self.database.prepare("leases")
            self.database.write(_delete_expired, patience)
            self._is_ready = True
        return self.database.write(work, patience)


def claim(database: Database, seconds: float, name: str) -> bool:
    """Take a lease without renewal; False if it is taken."""
    return bool(Leases(database, seconds).take([f"start:{text_digest(name)}"]))


def _delete_expired(connection: sa.Connection) -> None:
    connection.execute(
        sa.delete(leases).where(leases.c.until < _now(connection) - _RETENTION_SECONDS)
    )


def _now(connection: sa.Connection) -> float:
    return float(connection.exec_driver_sql(_CLOCK[connection.dialect.name]).scalar_one())
