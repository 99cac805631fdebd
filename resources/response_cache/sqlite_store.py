"""Remembers every response in one file of the home.

SQLite (WAL: many processes may read and write), one row a response, written the moment it
arrives: a killed run loses only what was in flight. A response is identified by who was asked how
(model identity, decoding), the prompt's digest and the number of the draw.
"""

import logging
import sqlite3
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench_assets.core.schema.chat import Response
from resources.response_cache import maintenance, port
from resources.response_cache.port import Row
from resources.response_cache.sqlite_file import (
    IF_DAMAGED,
    is_damaged,
    is_prompt,
    iterate_rows,
    prepare_file,
    response_from_row,
)
from resources.storage.sqlite import connect, describe_sqlite_errors, open_read_only

_LOG = logging.getLogger("bench_assets.responses")

_KEEP_PROMPT = (
    "INSERT INTO prompts VALUES (?, ?) ON CONFLICT DO UPDATE SET turns = excluded.turns"
    " WHERE turns IS NOT excluded.turns"  # it was damaged
)
_COLUMNS = (
    "model",
    "decoding",
    "prompt",
    "sample",
    "text",
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "image_tokens",
    "seconds",
    "note",
    "gate",
    "digest",
    "asked_at",
)
_OLDER = (
    f"DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS)}"
    " WHERE excluded.asked_at < responses.asked_at"
)
_MOMENT = "%Y-%m-%d %H:%M:%S"  # as CURRENT_TIMESTAMP writes it, in UTC
_CHUNK = 500  # keys looked up at once; SQLite allows 999 parameters in old builds


class SqliteResponseStore:
    """The file that remembers."""

    def __init__(self, file: Path) -> None:
        """Find the file, or make an empty one.

        Raises:
            HomeError: If it is damaged, something else, or of a newer version.
        """
        self.file = file
        prepare_file(file)

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self.file)

    def connect(self) -> sqlite3.Connection:
        """Open the file; waits up to a minute for another process that writes."""
        db = connect(self.file)
        db.execute("PRAGMA synchronous=NORMAL")  # survives kill -9; only a power cut may lose
        return db

    def find(self, keys: Sequence[str]) -> dict[str, Response]:
        """Look up responses by key; what was never asked, or is no response any more, is left out.

        Raises:
            HomeError: If the file as a whole is damaged.
        """
        with describe_sqlite_errors(self.file, IF_DAMAGED), open_read_only(self.file) as db:
            found = {row["key"]: _response(row) for row in _rows(db, keys)}
        return {key: response for key, response in found.items() if not response.error}

    def prompt(self, sha256: str) -> str | None:
        """The turns of a prompt that was once asked, as JSON; None also if they are damaged."""
        with describe_sqlite_errors(self.file, IF_DAMAGED), open_read_only(self.file) as db:
            row = db.execute("SELECT turns FROM prompts WHERE sha256 = ?", (sha256,)).fetchone()
        return str(row[0]) if row and is_prompt(sha256, row[0]) else None

    @contextmanager
    def asking(self, keys: Sequence[str]) -> Generator["_LocalRequestSession"]:
        """Begin to ask: everything is ours; of processes that ask the same, the first one's stays.

        Raises:
            HomeError: If the file is damaged, or the disk is full.
        """
        with describe_sqlite_errors(self.file, IF_DAMAGED), closing(self.connect()) as db:
            self._drop_damaged(keys)
            yield _LocalRequestSession(db, keys)

    def tokens_of(self, identity: str) -> port.TokenCounts:
        """Add up the tokens of every response that is remembered of a model."""
        with closing(self.connect()) as db:
            return port.tokens_of(db, identity)

    def earlier(self, identity: str, decoding: str) -> port.ResponseAverages:
        """Say how the responses were that a model gave when it was asked in this way."""
        with closing(self.connect()) as db:
            return port.response_averages(db, identity, decoding)

    def rename_model(self, before: str, now: str) -> int:
        """Keep a model's responses under another identity, and no byte of the one before."""
        with closing(self.connect()) as db:
            return maintenance.rename_model(db, before, now)

    def rows(self, not_let_in_by: str | None = None) -> Iterator[dict[str, Any]]:
        """Every response as it stands, damaged or not; or those that another gate let in."""
        of = "" if not_let_in_by is None else " WHERE gate IS NOT ?"
        with describe_sqlite_errors(self.file, IF_DAMAGED), open_read_only(self.file) as db:
            yield from iterate_rows(
                db.execute(f"SELECT * FROM responses{of}", (not_let_in_by,) if of else ())
            )

    def prompts(self) -> Iterator[tuple[str, str]]:
        """Digest and turns of every prompt as it stands."""
        with describe_sqlite_errors(self.file, IF_DAMAGED), open_read_only(self.file) as db:
            yield from db.execute("SELECT sha256, turns FROM prompts")

    def drop(self, keys: Iterable[str]) -> int:
        """Forget responses, so that they are asked when their model is next evaluated; how many."""
        with closing(self.connect()) as db, db:
            named = [(key,) for key in keys]
            return max(db.executemany("DELETE FROM responses WHERE key = ?", named).rowcount, 0)

    def remove(self, asked_as: Collection[str]) -> int:
        """Forget what was responded by models that were asked so.

        Give the disk its room back.
        """
        with closing(connect(self.file)) as db:
            return maintenance.remove_responses(db, asked_as)

    def n_since(self, moment: datetime) -> int:
        """Count the responses that came since then."""
        since = moment.astimezone(UTC).strftime(_MOMENT)
        with describe_sqlite_errors(self.file, IF_DAMAGED), open_read_only(self.file) as db:
            found = db.execute("SELECT count(*) FROM responses WHERE asked_at >= ?", (since,))
            return int(found.fetchone()[0])

    def merge(self, rows: Sequence[Row], prompts: Mapping[str, str]) -> None:
        """Take in whole rows of another store; of two responses to one request the older stays."""
        with describe_sqlite_errors(self.file, IF_DAMAGED), closing(self.connect()) as db:
            self._drop_damaged([row["key"] for row in rows])
            with db:
                db.executemany(_KEEP_PROMPT, prompts.items())
                for row in rows:
                    asked_at = row["asked_at"].astimezone(UTC).strftime(_MOMENT)
                    _insert(db, {**row, "asked_at": asked_at}, _OLDER)

    def _drop_damaged(self, keys: Sequence[str]) -> None:
        """Drop those of the responses that are none any more, so that others may come."""
        with closing(self.connect()) as db, db:
            damaged = [(row["key"],) for row in _rows(db, keys) if _response(row).error]
            db.executemany("DELETE FROM responses WHERE key = ?", damaged)
        if damaged:
            _LOG.warning("%s: %d damaged responses are asked again", self.file, len(damaged))


@dataclass(frozen=True, slots=True)
class _LocalRequestSession:
    """An asking of one process of this machine."""

    db: sqlite3.Connection
    ours: Sequence[str]
    found: Mapping[str, Response] = field(default_factory=dict)

    def keep(self, row: Row, turns: str) -> None:
        """Store a response; the first one of several stays."""
        with self.db:
            self.db.execute(_KEEP_PROMPT, (row["prompt"], turns))
            _insert(self.db, row)

    def give_up(self, key: str) -> None:
        """Nothing was taken that others would wait for."""


def _insert(db: sqlite3.Connection, row: Row, otherwise: str = "DO NOTHING") -> None:
    marks = ",".join("?" * len(row))
    db.execute(
        f"INSERT INTO responses ({', '.join(row)}) VALUES ({marks}) ON CONFLICT (key) {otherwise}",
        tuple(row.values()),
    )


def _rows(db: sqlite3.Connection, keys: Sequence[str]) -> Iterator[dict[str, Any]]:
    for start in range(0, len(keys), _CHUNK):
        chunk = keys[start : start + _CHUNK]
        marks = ",".join("?" * len(chunk))
        yield from iterate_rows(
            db.execute(f"SELECT * FROM responses WHERE key IN ({marks})", chunk)
        )


def _response(row: Mapping[str, Any]) -> Response:
    return Response(error="damaged") if is_damaged(row) else response_from_row(row)
