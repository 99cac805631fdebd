"""Remembers vectors in a PostgreSQL that several homes share."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench_assets.core.schema.chat import Vectors
from resources.storage.postgres import Connection, Database
from resources.storage.vectors.store import StoredVector, is_whole, written

VERSION = 1
_SCHEMA = """
CREATE TABLE bench_vectors (encoder text, key text, vector bytea NOT NULL, digest text NOT NULL,
    PRIMARY KEY (encoder, key));
"""
_AT_ONCE = 1000  # vectors of one statement: a few MB
_GET = """
SELECT encoder, key, vector, digest FROM bench_vectors WHERE encoder = %s AND key = ANY(%s)
"""
_PUT = """
INSERT INTO bench_vectors AS kept SELECT %b, * FROM unnest(%b::text[], %b::bytea[], %b::text[])
ON CONFLICT (encoder, key) DO UPDATE SET vector = excluded.vector, digest = excluded.digest
WHERE (kept.vector, kept.digest) <> (excluded.vector, excluded.digest)
"""
_PAGE = """
SELECT encoder, key, vector, digest FROM bench_vectors WHERE (encoder, key) > (%s, %s)
ORDER BY encoder, key LIMIT %s
"""


class SharedVectors:
    """The vectors of all homes that name the same database."""

    def __init__(self, database: Database) -> None:
        """Find the table, or make it.

        Raises:
            HomeError: If the database cannot be used, or was written by a newer version.
        """
        self._database = database
        database.make_ready("vectors", VERSION, _SCHEMA)

    @property
    def place(self) -> str:
        """Which database, without name and password."""
        return self._database.place

    def get(self, encoder: str, keys: Sequence[str]) -> dict[str, Vectors]:
        """Find vectors that are known, by key; one that is damaged by now is not.

        Raises:
            HomeError: If the database cannot be reached.
        """
        wanted = list(dict.fromkeys(keys))
        known: dict[str, Vectors] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            given = (encoder, wanted[start : start + _AT_ONCE])
            for one in self._database.run(partial(_fetched, sql=_GET, given=given)):
                if is_whole(*one):
                    known[one[1]] = np.frombuffer(one[2], np.float32)
        return known

    def put(self, encoder: str, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors.

        Raises:
            HomeError: If the database cannot be reached.
        """
        rows = written(encoder, vectors)
        for start in range(0, len(rows), _AT_ONCE):
            _, *columns = map(list, zip(*rows[start : start + _AT_ONCE], strict=True))
            self._database.run(partial(_put, given=(encoder, *columns)))

    def stored(self) -> Iterator[StoredVector]:
        """Every vector as it stands, each thousand in a transaction."""
        after = ("", "")
        while page := self._database.run(partial(_fetched, sql=_PAGE, given=(*after, _AT_ONCE))):
            yield from page
            after = page[-1][:2]


def _put(db: Connection, given: tuple[Any, ...]) -> None:
    db.execute(_PUT, given)


def _fetched(db: Connection, sql: str, given: tuple[Any, ...]) -> list[StoredVector]:
    found = db.execute(sql, given, binary=True)
    return [(one["encoder"], one["key"], one["vector"], one["digest"]) for one in found]
