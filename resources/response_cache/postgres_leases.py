"""Leases on prompts, so that each is asked once across machines."""

import os
import queue
import socket
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeAlias
from uuid import uuid4

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import HomeError
from resources.response_cache.port import Row
from resources.response_cache.postgres_rows import as_bytes, insert
from resources.storage.postgres import Connection, ConnectionPool

_Item: TypeAlias = tuple[Row, str] | str | None
"""A response with its prompt, a key to give up, or the end."""

_MOST = 500  # responses of one transaction
_WAITING = 5_000  # responses that may wait to be written
_GATHERING = (
    0.01  # s in which more may come: a transaction of one response costs as much as of fifty
)
_UNTIL = "clock_timestamp() + %(seconds)s * interval '1 second'"
_CLAIM = f"""
INSERT INTO bench_askings AS held SELECT wanted.key, %(owner)s, {_UNTIL}
FROM unnest(%(keys)s::bytea[]) AS wanted (key)
WHERE NOT EXISTS (  -- which would only lock what others hold, again and again
    SELECT FROM bench_askings AS there
    WHERE there.key = wanted.key AND there.until >= clock_timestamp()
    AND there.owner <> %(owner)s  -- ours, if the connection broke when it had just claimed
)
ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, until = excluded.until
WHERE held.until < clock_timestamp() OR held.owner = excluded.owner RETURNING key
"""


class RequestLeases:
    """What one asking alone may ask; everything is measured by the database's clock."""

    def __init__(self, line: ConnectionPool, seconds: float) -> None:
        self.line = line
        self.seconds = seconds
        self._renewed = time.monotonic()
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex}"

    def claim(self, keys: Sequence[str]) -> set[str]:
        """Take what nobody holds, or held and died; says what was got."""
        named = {"owner": self._owner, "seconds": self.seconds, "keys": sorted(as_bytes(keys))}
        found = self.line.run(lambda db: db.execute(_CLAIM, named).fetchall())
        return {bytes(row["key"]).hex() for row in found}

    def renew_if_due(self) -> None:
        """Say that this process lives, a quarter of a lease after it last did."""
        if time.monotonic() - self._renewed < self.seconds / 4:
            return
        self._renewed = time.monotonic()
        sql = f"UPDATE bench_askings SET until = {_UNTIL} WHERE owner = %(owner)s"
        named = {"owner": self._owner, "seconds": self.seconds}
        self.line.run(lambda db: db.execute(sql, named))

    def give_up(self, keys: Collection[str]) -> None:
        """Let others ask."""
        if keys:
            self.line.run(lambda db: self.end(db, keys))

    def end(self, db: Connection, keys: Collection[str]) -> None:
        """End leases, in a transaction that may do more."""
        sql = "DELETE FROM bench_askings WHERE owner = %s AND key = ANY(%s)"
        db.execute(sql, (self._owner, sorted(as_bytes(keys))))


class LeasedRequests:
    """Responses as they arrive are written by a thread: as many at once as came while it wrote."""

    def __init__(
        self, leases: RequestLeases, ours: Sequence[str], found: Mapping[str, Response]
    ) -> None:
        self.ours, self.found = ours, found
        self._leases = leases
        self._items: queue.Queue[_Item] = queue.Queue(_WAITING)
        self._open = set(ours)
        self._failure: HomeError | None = None
        self._thread = threading.Thread(target=self._write, name="responses", daemon=True)

    def __enter__(self) -> Self:
        """Begin to write, if anything is to be asked."""
        if self.ours:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        why: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Wait until all that came is written, and let others ask the rest.

        Raises:
            HomeError: If something could not be written, unless another error is on its way.
        """
        if not self.ours:
            return
        self._put(None)
        self._thread.join()
        if self._failure and not kind:
            raise self._failure

    def keep(self, row: Row, turns: str) -> None:
        """Have a response written, with the turns of its prompt.

        Raises:
            HomeError: If one before it could not be.
        """
        self._put((row, turns))
        if self._failure:
            raise self._failure

    def give_up(self, key: str) -> None:
        """Let others ask what came back with an error."""
        self._put(key)

    def _put(self, item: _Item) -> None:
        while not self._failure:
            try:
                self._items.put(item, timeout=1)
                return
            except queue.Full:
                if not self._thread.is_alive():
                    raise HomeError("what writes responses has ended") from None

    def _write(self) -> None:
        try:
            while self._write_some():
                pass
            self._leases.give_up(self._open)
        except HomeError as why:
            self._failure = why

    def _write_some(self) -> bool:
        """Write what has come, and say from time to time that we live; whether more may come."""
        items = self._come()
        responses = [item for item in items if isinstance(item, tuple)]
        done = {item for item in items if isinstance(item, str)}
        done |= {row["key"] for row, _ in responses}
        if done:
            self._leases.line.run(lambda db: self._store(db, responses, done))
            self._open -= done
        self._leases.renew_if_due()
        return None not in items

    def _come(self) -> list[_Item]:
        """What waits to be written; nothing if nothing came for a quarter of a lease."""
        items: list[_Item] = []
        try:
            items.append(self._items.get(timeout=self._leases.seconds / 4))
            if items[0] is not None and self._items.qsize() < _MOST:
                time.sleep(_GATHERING)
            while len(items) < _MOST:
                items.append(self._items.get_nowait())
        except queue.Empty:
            pass
        return items

    def _store(self, db: Connection, responses: Sequence[tuple[Row, str]], done: set[str]) -> None:
        rows = [row for row, _ in responses]
        insert(db, rows, {row["prompt"]: turns for row, turns in responses})
        self._leases.end(db, done)
