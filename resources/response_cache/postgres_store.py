"""Remembers every response in a PostgreSQL that several homes, on several machines, share.

A request that two ask at the same time is asked once: who asks holds a lease on it, by the
database's clock, which is renewed as long as it lives, and is taken over by another when it died.
"""

import logging
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any

from bench_assets.core.schema.chat import Response
from resources.response_cache.maintenance import with_identity
from resources.response_cache.port import ResponseAverages, Row, TokenCounts
from resources.response_cache.postgres_leases import LeasedRequests, RequestLeases
from resources.response_cache.postgres_rows import SCHEMA, VERSION, as_bytes, insert, row_of
from resources.response_cache.sqlite_file import (
    is_damaged,
    is_prompt,
    response_from_row,
    row_digest,
)
from resources.storage.postgres import Connection, Database, Result

_LOG = logging.getLogger("bench_assets.responses")

LEASE = 60.0  # s after which a request is asked by another, unless its owner says that it lives
_AT_ONCE = 10_000  # rows of one look-up
_MOST_WAITING = 5.0  # s between two looks for what somebody else is asking
_MODEL_AND_DECODING = "model || CASE WHEN decoding = '' THEN '' ELSE '|' || decoding END"
_SELECT = "SELECT * FROM bench_responses"


class PostgresResponseStore:
    """The responses of all homes that name the same database."""

    def __init__(self, database: Database, lease: float = LEASE) -> None:
        """Find the tables, or make them.

        Raises:
            HomeError: If the database cannot be used, or was written by a newer version.
        """
        self._database = database
        self._lease = lease
        database.make_ready("responses", VERSION, SCHEMA)

    @property
    def place(self) -> str:
        """Which database, without name and password."""
        return self._database.place

    def find(self, keys: Sequence[str]) -> dict[str, Response]:
        """Look up responses by key; what was never asked, or is no response any more, is left out.

        Raises:
            HomeError: If the database cannot be reached.
        """
        return self._stored(keys)[0]

    def prompt(self, sha256: str) -> str | None:
        """The turns of a prompt that was once asked, as JSON; None also if they are damaged."""
        named = as_bytes([sha256])
        sql = "SELECT turns FROM bench_prompts WHERE sha256 = ANY(%s)"
        for row in self._run(lambda db: db.execute(sql, (named,)).fetchall()):
            if is_prompt(sha256, row["turns"]):
                return str(row["turns"])
        return None

    @contextmanager
    def asking(self, keys: Sequence[str]) -> Generator[LeasedRequests]:
        """Begin to ask; what of ``keys`` is neither ours nor found, somebody else is asking.

        Where nothing is left to ask, waits a moment for what the others ask.

        Raises:
            HomeError: If the database cannot be reached for a minute.
        """
        with self._database.line() as line:
            leases = RequestLeases(line, self._lease)
            began = time.monotonic()
            claimed = leases.claim(keys)
            # Between a look-up and a claim another may have stored it.
            found, damaged = self._stored(keys)
            if not claimed:
                _LOG.info("%d responses are being asked for elsewhere: waiting", len(keys))
                time.sleep(min(_MOST_WAITING, max(0.2, 5 * (time.monotonic() - began))))
            ours = [key for key in keys if key in claimed and key not in found]
            leases.give_up(claimed - set(ours))
            self._drop_damaged([key for key in damaged if key in claimed])
            with LeasedRequests(leases, ours, found) as asking:
                yield asking

    def tokens_of(self, identity: str) -> TokenCounts:
        """Add up the tokens of every response that is remembered of a model."""
        sql = (
            "SELECT coalesce(sum(prompt_tokens), 0) AS prompt,"
            " coalesce(sum(completion_tokens), 0) AS completion FROM bench_responses WHERE "
            "model = %s"
        )
        (row,) = self._run(lambda db: db.execute(sql, (identity,)).fetchall())
        return TokenCounts(prompt=int(row["prompt"]), completion=int(row["completion"]))

    def earlier(self, identity: str, decoding: str) -> ResponseAverages:
        """Say how the responses were that a model gave when it was asked in this way."""
        sql = (
            "SELECT avg(seconds) AS seconds, avg(completion_tokens)::double precision AS tokens"
            " FROM bench_responses WHERE model = %s AND decoding = %s"
        )
        (row,) = self._run(lambda db: db.execute(sql, (identity, decoding)).fetchall())
        return ResponseAverages(**row)

    def rename_model(self, before: str, now: str) -> int:
        """Keep a model's responses under another identity; how many there were."""

        def move(db: Connection) -> int:
            found = [row_of(one) for one in db.execute(f"{_SELECT} WHERE model = %s", (before,))]
            moved = [with_identity(row, now) for row in found if not is_damaged(row)]
            insert(db, [{**row, "digest": row_digest(row)} for row in moved])
            db.execute("DELETE FROM bench_responses WHERE model = %s", (before,))
            return len(found)

        return self._run(move)

    def rows(self, not_let_in_by: str | None = None) -> Iterator[dict[str, Any]]:
        """Every response as it stands, damaged or not; or those that another gate let in."""
        of = "" if not_let_in_by is None else "AND gate IS DISTINCT FROM %(gate)s "
        sql = f"{_SELECT} WHERE key > %(after)s {of}ORDER BY key LIMIT {_AT_ONCE}"
        for row in self._in_pages(sql, "key", {"gate": not_let_in_by}):
            yield row_of(row)

    def prompts(self) -> Iterator[tuple[str, str]]:
        """Digest and turns of every prompt as it stands."""
        sql = f"SELECT * FROM bench_prompts WHERE sha256 > %(after)s ORDER BY 1 LIMIT {_AT_ONCE}"
        for row in self._in_pages(sql, "sha256", {}):
            yield row["sha256"].hex(), row["turns"]

    def drop(self, keys: Iterable[str]) -> int:
        """Forget responses, so that they are asked when their model is next evaluated; how many."""
        named = as_bytes(keys)
        sql = "DELETE FROM bench_responses WHERE key = ANY(%s)"
        return self._run(lambda db: int(db.execute(sql, (named,)).rowcount))

    def remove(self, asked_as: Collection[str]) -> int:
        """Forget what was responded by models that were asked so; how many there were.

        Prompts stay: another home may be asking one of them at this moment.
        """
        before = [one.partition("|thinking=")[0] for one in asked_as]  # as in ``removed``
        sql = f"DELETE FROM bench_responses WHERE {_MODEL_AND_DECODING} = ANY(%s)"
        return self._run(lambda db: int(db.execute(sql, (before,)).rowcount))

    def n_since(self, moment: datetime) -> int:
        """Count the responses that came since then, to any home."""
        sql = "SELECT count(*) AS n FROM bench_responses WHERE asked_at >= %s"
        (row,) = self._run(lambda db: db.execute(sql, (moment,)).fetchall())
        return int(row["n"])

    def merge(self, rows: Sequence[Row], prompts: Mapping[str, str]) -> None:
        """Take in whole rows of another store; of two responses to one request the older stays."""
        self._drop_damaged(self._stored([row["key"] for row in rows])[1])
        self._run(lambda db: insert(db, rows, prompts, older=True))

    def _stored(self, keys: Sequence[str]) -> tuple[dict[str, Response], list[str]]:
        """Responses by key, and the keys of those that are none any more."""
        named = as_bytes(dict.fromkeys(keys))
        sql = f"{_SELECT} WHERE key = ANY(%s)"
        found: dict[str, Response] = {}
        for start in range(0, len(named), _AT_ONCE):
            few = named[start : start + _AT_ONCE]
            for row in map(row_of, self._run(partial(_fetched, sql=sql, given=(few,)))):
                found[row["key"]] = _response(row)
        whole = {key: response for key, response in found.items() if not response.error}
        return whole, [key for key in found if key not in whole]

    def _drop_damaged(self, damaged: Sequence[str]) -> None:
        """Drop responses that are none any more, so that others may come."""
        if damaged:
            self.drop(damaged)
            _LOG.warning("%s: %d damaged responses are asked again", self.place, len(damaged))

    def _in_pages(self, sql: str, key: str, named: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Read a table by its key, each page in a transaction: the whole may be large."""
        after = b""
        with self._database.line() as line:
            while page := line.run(partial(_fetched, sql=sql, given={**named, "after": after})):
                yield from page
                after = page[-1][key]

    def _run(self, work: Callable[[Connection], Result]) -> Result:
        return self._database.run(work)


def _fetched(db: Connection, sql: str, given: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    rows: list[dict[str, Any]] = db.execute(sql, given, binary=True).fetchall()
    return rows


def _response(row: Mapping[str, Any]) -> Response:
    return Response(error="damaged") if is_damaged(row) else response_from_row(row)
