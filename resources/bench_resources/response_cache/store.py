"""Response cache: every response of every model, in a file of the home or a shared database.

A response is stored within 20 ms of its arrival, under its key (see ``core.schema.provenance``): a
killed run loses only these, and the requests that were in flight. In a shared database, a request
that several processes need is sent once: the sender holds a lease on it.
"""

import logging
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import sqlalchemy as sa

from bench_assets.core.schema.chat import MOST_TOKENS, Response
from bench_assets.core.schema.errors import HomeError
from bench_resources.response_cache.rows import (
    ResponseAverages,
    Row,
    TokenCounts,
    matches_digest,
    response_from_row,
)
from bench_resources.response_cache.sessions import RequestSession, insert
from bench_resources.storage.database import Database, SqliteDatabase
from bench_resources.storage.leases import Leases
from bench_resources.storage.schema import column_in, prompts, responses

_LOG = logging.getLogger("bench_assets.responses")

REPAIR_ADVICE = (
    "nothing in it was changed: restore a backup, or save the intact rows with `sqlite3 FILE"
    " .recover | sqlite3 NEW`; without the file, every request is sent again"
)
LEASE = 60.0  # s after which another process sends a request, unless the sender renews its lease
_PAGE = 10_000  # rows of one look-up
_LONGEST_WAIT = 5.0  # s between two look-ups of requests that other processes send


class ResponseStore:
    """The responses of one home, or of all homes that share a database."""

    def __init__(self, database: Database, lease: float = LEASE) -> None:
        """Create the tables, or check their schema.

        Raises:
            HomeError: If the database cannot be used, or was written by another version.
        """
        self.database = database
        self._lease = lease
        database.prepare("responses")

    @property
    def place(self) -> str:
        """Path of the file, or address of the database without credentials."""
        return self.database.place

    def find(self, keys: Sequence[str]) -> dict[str, Response]:
        """Look up responses by key; damaged ones count as missing.

        Raises:
            HomeError: If the database cannot be read.
        """
        found, _ = self._look_up(keys)
        return found

    def prompt(self, sha256: str) -> str | None:
        """Turns of a stored prompt as JSON; None if there is none, or it is damaged."""
        return self.prompts_of([sha256]).get(sha256)

    def prompts_of(self, digests: Collection[str]) -> dict[str, str]:
        """Turns of stored prompts as JSON, by their SHA-256; damaged ones count as missing."""
        rows = self._rows_with(prompts.c.sha256, digests)
        texts = {row["sha256"]: str(row["turns"]) for row in rows}
        return {sha256: turns for sha256, turns in texts.items() if matches_digest(sha256, turns)}

    @contextmanager
    def request_session(self, keys: Sequence[str]) -> Generator[RequestSession]:
        """Begin to send requests.

        Keys that the session has neither in ``ours`` nor in ``found`` are being sent by other
        processes. If it gets no lease, waits a moment for them. A SQLite file has no leases: of
        two processes that send the same request, the first response is kept.

        Raises:
            HomeError: If the database cannot be read or written.
        """
        if isinstance(self.database, SqliteDatabase):
            _, damaged = self._look_up(keys)
            self._drop_damaged(damaged)
            with RequestSession(self.database, ours=keys, found={}) as session:
                yield session
            return
        leases = Leases(self.database, self._lease)
        began = time.monotonic()
        leased = leases.take(keys)
        # Another process may have stored a response between the look-up and the lease.
        found, damaged = self._look_up(keys)
        if not leased:
            _LOG.info("waiting for %d responses that other processes request", len(keys))
            # Five times as long as the look-up took, so that waiting does not load the database.
            time.sleep(min(_LONGEST_WAIT, max(0.2, 5 * (time.monotonic() - began))))
        ours = [key for key in keys if key in leased and key not in found]
        leases.release(leased.difference(ours))
        self._drop_damaged([key for key in damaged if key in leased])
        with RequestSession(self.database, ours=ours, found=found, leases=leases) as session:
            yield session

    def tokens_of(self, identity: str) -> TokenCounts:
        """Sum the tokens of all cached responses of a model."""
        sums = [sa.func.coalesce(sa.func.sum(_plausible_tokens(name)), 0) for name in _TOKENS]
        query = sa.select(*sums).where(responses.c.model == identity)
        prompt, completion = self.database.read(lambda connection: connection.execute(query).one())
        return TokenCounts(prompt=int(prompt), completion=int(completion))

    def averages(self, identity: str, decoding: str) -> ResponseAverages:
        """Mean seconds and completion tokens of a model's responses with a decoding."""
        # PostgreSQL's average of integers is a Decimal.
        mean_tokens = sa.cast(sa.func.avg(_plausible_tokens("completion_tokens")), sa.Double)
        query = sa.select(sa.func.avg(responses.c.seconds), mean_tokens).where(
            responses.c.model == identity, responses.c.decoding == decoding
        )
        seconds, tokens = self.database.read(lambda connection: connection.execute(query).one())
        return ResponseAverages(seconds=seconds, tokens=tokens)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every stored response as a row, damaged or not."""
        yield from self._sorted_rows(responses.c.key)

    def prompts(self) -> Iterator[tuple[str, str]]:
        """Digest and turns of every stored prompt, damaged or not."""
        for row in self._sorted_rows(prompts.c.sha256):
            yield row["sha256"], row["turns"]

    def drop(self, keys: Iterable[str]) -> int:
        """Delete responses, so that their requests are sent again, and return their number."""
        key_list = list(keys)
        return self.database.write(
            lambda connection: _delete(connection, column_in(connection, responses.c.key, key_list))
        )

    def remove(self, cache_identities: Sequence[str]) -> int:
        """Delete the responses of cache identities, and return their number.

        A file is compacted, without its unused prompts. A shared database keeps them: another home
        may be sending one of them.
        """

        def delete(connection: sa.Connection) -> int:
            n = _delete(connection, column_in(connection, _CACHE_IDENTITY, cache_identities))
            if isinstance(self.database, SqliteDatabase):
                used = sa.select(responses.c.prompt)
                connection.execute(sa.delete(prompts).where(prompts.c.sha256.not_in(used)))
            return n

        n = self.database.write(delete)
        if isinstance(self.database, SqliteDatabase):
            self.database.compact()
        return n

    def count_since(self, moment: datetime) -> int:
        """Count the responses that were stored since a moment."""
        query = sa.select(sa.func.count()).where(responses.c.asked_at >= moment)
        return int(self.database.read(lambda connection: connection.scalar(query)) or 0)

    def merge(self, rows: Sequence[Row], turns: Mapping[str, str]) -> None:
        """Insert rows and prompts of another store; of two responses with a key the older stays."""
        _, damaged = self._look_up([row["key"] for row in rows])
        self._drop_damaged(damaged)
        self.database.write(partial(insert, rows=rows, turns=turns, keep_older=True))

    def _look_up(self, keys: Sequence[str]) -> tuple[dict[str, Response], list[str]]:
        """Responses by key, and the keys of damaged ones."""
        rows = self._rows_with(responses.c.key, keys)
        responses_by_key = {row["key"]: response_from_row(row) for row in rows}
        intact = {key: response for key, response in responses_by_key.items() if not response.error}
        return intact, [key for key in responses_by_key if key not in intact]

    def _rows_with(
        self, column: "sa.Column[str]", values: Collection[str]
    ) -> Iterator[dict[str, Any]]:
        """Rows with one of these values in a column, a page in a transaction."""
        distinct = list(dict.fromkeys(values))
        for start in range(0, len(distinct), _PAGE):
            page = distinct[start : start + _PAGE]
            yield from self.database.read(partial(_select, column, page))

    def _drop_damaged(self, keys: Sequence[str]) -> None:
        if keys:
            self.drop(keys)
            _LOG.warning("%s: %d damaged responses are requested again", self.place, len(keys))

    def _sorted_rows(self, key: "sa.Column[str]") -> Iterator[dict[str, Any]]:
        """Rows of a table in the order of its key, a page in a transaction."""
        after = ""
        while page := self.database.read(partial(_select_after, key, after)):
            yield from page
            after = page[-1][key.name]


_TOKENS = ("prompt_tokens", "completion_tokens")
_CACHE_IDENTITY = responses.c.model + sa.case(
    (responses.c.decoding == "", ""), else_="|" + responses.c.decoding
)


def _plausible_tokens(name: str) -> sa.ColumnElement[int]:
    """A column of token counts, with NULL for implausible values."""
    column = responses.c[name]
    return sa.case((column.between(0, MOST_TOKENS), column))


def _delete(connection: sa.Connection, condition: Any) -> int:  # noqa: ANN401
    return int(connection.execute(sa.delete(responses).where(condition)).rowcount)


def _select(
    column: "sa.Column[str]", values: Sequence[str], connection: sa.Connection
) -> list[dict[str, Any]]:
    query = sa.select(column.table).where(column_in(connection, column, values))
    return _dicts(connection.execute(query))


def _select_after(
    key: "sa.Column[str]", after: str, connection: sa.Connection
) -> list[dict[str, Any]]:
    """The first rows of a table whose key is greater than ``after``."""
    query = sa.select(key.table).where(key > after).order_by(key).limit(_PAGE)
    return _dicts(connection.execute(query))


def _dicts(result: sa.CursorResult[Any]) -> list[dict[str, Any]]:
    names = list(result.keys())
    return [dict(zip(names, row, strict=True)) for row in result]


_COPIED_ROWS = 1000  # rows that are copied at once

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeResult:
    """Outcome of merging two response caches."""

    source: str
    target: str
    responses: int  # intact ones, all of which are in the target now
    prompts: int
    left_out: int  # damaged ones, which only the source has


def merge_into(
    target: ResponseStore, source: ResponseStore, progress: Callable[[int], object] = lambda n: None
) -> MergeResult:
    """Copy every intact response, and verify its arrival; the source is unchanged.

    Of two responses with the same key, the older one stays. After an interruption, run it again.

    ``progress`` gets the number of responses copied so far.

    Raises:
        HomeError: If a store cannot be read or written, or a response is missing afterwards.
    """
    n_prompts = n_responses = n_left_out = 0
    for page in _pages(prompt for prompt in source.prompts() if matches_digest(*prompt)):
        target.merge(rows=[], turns=dict(page))
        n_prompts += len(page)
    for rows in _pages(source.rows()):
        intact = [row for row in rows if not response_from_row(row).error]
        target.merge(rows=intact, turns={})
        _require_all(target, intact)
        n_responses += len(intact)
        n_left_out += len(rows) - len(intact)
        progress(n_responses)
    return MergeResult(
        source=source.place,
        target=target.place,
        responses=n_responses,
        prompts=n_prompts,
        left_out=n_left_out,
    )


def _require_all(target: ResponseStore, rows: Sequence[Row]) -> None:
    keys = [str(row["key"]) for row in rows]
    missing = set(keys) - target.find(keys).keys()
    if missing:
        raise HomeError(
            f"{target.place}: {len(missing)} responses are missing after they were written, such as"
            f" {min(missing)}. The source is unchanged: run the command again."
        )


def _pages(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Divide items into lists of at most ``_COPIED_ROWS``."""
    iterator = iter(items)
    while page := list(islice(iterator, _COPIED_ROWS)):
        yield page
