"""Request session: stores responses as they arrive."""

import queue
import threading
import time
from collections.abc import Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Self, TypeAlias

import sqlalchemy as sa

from bench_assets.core.schema.chat import Response
from bench_resources.response_cache.rows import Row
from bench_resources.storage.database import Database, Write
from bench_resources.storage.leases import Leases
from bench_resources.storage.schema import prompts, responses, upsert

_Item: TypeAlias = tuple[Row, str] | str | None
"""A response with its prompt, the key of a failed request, or None for the end."""

_MAX_QUEUED = 100  # responses in the queue, and in one transaction
_BATCH_SECONDS = 0.02  # s to wait for more: a transaction of one costs as much as one of fifty
_PATIENCE = 15.0  # s to wait for a response if there are no leases to renew

_KEEP_PROMPT = (
    "DO UPDATE SET turns = excluded.turns WHERE coalesce(prompts.turns, '') <> excluded.turns"
)
_KEEP_OLDER = (
    "DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in responses.columns.keys() if name != "key")  # noqa: SIM118
    + " WHERE excluded.asked_at < responses.asked_at"
)


def insert(
    connection: sa.Connection,
    rows: Sequence[Row],
    turns: Mapping[str, str],
    *,
    keep_older: bool = False,
) -> None:
    """Store responses and prompts; of two responses with a key, the existing one stays.

    Args:
        connection: In a transaction.
        rows: The responses.
        turns: Digest of a prompt -> its turns as JSON. They replace damaged ones.
        keep_older: Whether the older one stays instead.
    """
    prompt_rows = [{"sha256": sha256, "turns": turns[sha256]} for sha256 in sorted(turns)]
    upsert(connection, prompts, prompt_rows, _KEEP_PROMPT)
    by_key = {row["key"]: row for row in rows}
    sorted_rows = [by_key[key] for key in sorted(by_key)]
    upsert(connection, responses, sorted_rows, _KEEP_OLDER if keep_older else "DO NOTHING")


class RequestSession:
    """Requests that one process sends during a ``with`` block.

    A thread stores their responses in transactions of at most 100: those that arrived within 20 ms
    or during the previous transaction. A killed process loses at most 200 responses.
    """

    def __init__(
        self,
        database: Database,
        ours: Sequence[str],
        found: Mapping[str, Response],
        leases: Leases | None = None,
    ) -> None:
        """Prepare to store responses; entering the context starts the thread.

        Args:
            database: Stores the responses.
            ours: Keys of the requests that only this process sends.
            found: Responses by key that other processes stored since the look-up.
            leases: The leases on ``ours``; None for SQLite, which has no leases.
        """
        self.ours, self.found = ours, found
        self._database, self._leases = database, leases
        self._patience = leases.seconds / 4 if leases else _PATIENCE
        self._queue: queue.Queue[_Item] = queue.Queue(_MAX_QUEUED)
        self._filled = threading.Event()  # the queue is full, or the end was put into it
        self._renewed = time.monotonic()
        self._failure: Exception | None = None
        self._opened = threading.Event()
        self._thread = threading.Thread(target=self._write, name="responses", daemon=True)

    def __enter__(self) -> Self:
        """Start the thread, and wait until it has opened the store."""
        if self.ours:
            self._thread.start()
            self._opened.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Wait until all responses are written, and release the remaining leases.

        Raises:
            Exception: As ``keep``, unless the block raised an error.
        """
        if not self.ours:
            return
        self._put(None)
        self._thread.join()
        if self._failure and not kind:
            raise self._failure

    def keep(self, row: Row, turns: str) -> None:
        """Queue a response for storage, with the turns of its prompt as JSON.

        Raises:
            Exception: If an earlier response could not be stored, such as a ``HomeError``.
        """
        self._put((row, turns))
        if self._failure:
            raise self._failure

    def give_up(self, key: str) -> None:
        """Release the lease on a failed request, so that other processes can send it."""
        self._put(key)

    def _put(self, item: _Item) -> None:
        """Queue an item, unless the thread has failed."""
        while not self._failure:
            try:
                self._queue.put(item, timeout=1)
            except queue.Full:
                continue
            if item is None or self._queue.full():
                self._filled.set()
            return

    def _write(self) -> None:
        try:
            with self._database.writer() as write:
                self._opened.set()
                while self._write_batch(write):
                    pass
            if self._leases:
                self._leases.release()
        except Exception as error:  # noqa: BLE001 - raised by the caller's next call
            self._failure = error
        finally:
            self._opened.set()

    def _write_batch(self, write: Write) -> bool:
        """Store what has arrived, and renew the leases when due; False after the end."""
        items = self._take_items()
        arrived = [item for item in items if isinstance(item, tuple)]
        finished_keys = {item for item in items if isinstance(item, str)}
        finished_keys |= {row["key"] for row, _ in arrived}
        if finished_keys:
            write(partial(self._store, arrived, finished_keys))
        if self._leases and time.monotonic() - self._renewed > self._patience:
            self._renewed = time.monotonic()
            self._leases.renew()
        return None not in items

    def _take_items(self) -> list[_Item]:
        """Take at most one batch from the queue; [] if nothing arrives within the patience."""
        items: list[_Item] = []
        try:
            items.append(self._queue.get(timeout=self._patience))
            self._filled.wait(_BATCH_SECONDS)  # lets a batch fill
            self._filled.clear()
            while len(items) < _MAX_QUEUED:
                items.append(self._queue.get_nowait())
        except queue.Empty:
            pass
        return items

    def _store(
        self, arrived: Sequence[tuple[Row, str]], finished_keys: set[str], connection: sa.Connection
    ) -> None:
        insert(
            connection,
            [row for row, _ in arrived],
            {row["prompt"]: turns for row, turns in arrived},
        )
        if self._leases:
            self._leases.release_within(connection, finished_keys)
