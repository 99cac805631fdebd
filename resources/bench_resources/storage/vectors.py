"""Cached embedding vectors, and copies between stores."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
import sqlalchemy as sa

from bench_assets.core.schema.chat import Vectors
from bench_assets.core.schema.errors import HomeError
from bench_assets.core.schema.provenance import vector_digest
from bench_resources.storage.database import Database
from bench_resources.storage.schema import column_in, upsert
from bench_resources.storage.schema import vectors as table

REPAIR_ADVICE = "move it away: vectors are computed again"
_PAGE = 1000  # vectors of one statement: a few MB
_REPLACE = "DO UPDATE SET vector = excluded.vector, digest = excluded.digest"
_NO_TYPE = sa.types.NullType()  # damaged values are read as they are
_SELECT = sa.select(*(sa.type_coerce(column, _NO_TYPE) for column in table.c))

StoredVector: TypeAlias = tuple[Any, Any, Any, Any]
"""Encoder, key, vector and digest as stored, unverified; see ``is_intact_vector``."""


class VectorCache:
    """Vectors by encoder and content, in a file of the home or a database that homes share."""

    def __init__(self, database: Database) -> None:
        """Create the table, or check its schema.

        Raises:
            HomeError: If the database cannot be used, or was written by another version.
        """
        self._database = database
        database.prepare("vectors")

    @property
    def place(self) -> str:
        """Path of the file, or address of the database without credentials."""
        return self._database.place

    def get(self, encoder: str, keys: Sequence[str]) -> dict[str, Vectors]:
        """Look up vectors by key; a damaged one counts as missing.

        Raises:
            HomeError: If the database cannot be read.
        """
        wanted, known = list(dict.fromkeys(keys)), dict[str, Vectors]()
        for start in range(0, len(wanted), _PAGE):
            for row in self._database.read(
                partial(_select_vectors, encoder, wanted[start : start + _PAGE])
            ):
                if is_intact_vector(*row):
                    known[row[1]] = np.frombuffer(row[2], np.float32)
        return known

    def put(self, encoder: str, vectors: Mapping[str, Vectors]) -> None:
        """Store vectors; a later one replaces an earlier one of the same key.

        Raises:
            HomeError: If the database cannot be written.
        """
        rows = vector_rows(encoder, vectors)
        for start in range(0, len(rows), _PAGE):
            page = rows[start : start + _PAGE]
            self._database.write(partial(upsert, table=table, rows=page, conflict=_REPLACE))

    def stored(self) -> Iterator[StoredVector]:
        """Every stored vector, unverified, in transactions of one page."""
        after: tuple[Any, Any] = ("", "")
        while page := self._database.read(partial(_page, after)):
            yield from page
            after = page[-1][0], page[-1][1]


def _select_vectors(
    encoder: str, keys: Sequence[str], connection: sa.Connection
) -> list[StoredVector]:
    wanted = table.c.encoder == encoder, column_in(connection, table.c.key, keys)
    return [(*row,) for row in connection.execute(_SELECT.where(*wanted))]


def _page(after: tuple[Any, Any], connection: sa.Connection) -> list[StoredVector]:
    key = sa.tuple_(table.c.encoder, table.c.key)
    rows = _SELECT.where(key > sa.tuple_(*after)).order_by(*key).limit(_PAGE)
    return [(*row,) for row in connection.execute(rows)]


def vector_rows(encoder: str, vectors: Mapping[str, Vectors]) -> list[dict[str, Any]]:
    """Vectors as rows with their digests, in the order of their keys."""
    written = {key: vectors[key].tobytes() for key in sorted(vectors)}
    return [
        {
            "encoder": encoder,
            "key": key,
            "vector": vector,
            "digest": vector_digest(encoder, key, vector),
        }
        for key, vector in written.items()
    ]


def is_intact_vector(encoder: object, key: object, vector: object, digest: object) -> bool:
    """Whether a vector matches its checksum."""
    return isinstance(vector, bytes) and digest == vector_digest(encoder, key, vector)


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorMergeResult:
    """Outcome of merging two vector caches."""

    source: str
    target: str
    vectors: int  # intact ones, all of which are in the target now
    left_out: int  # damaged ones, which only the source has


def merge_vectors(target: VectorCache, source: VectorCache) -> VectorMergeResult:
    """Copy every intact vector that the target lacks; after an interruption, run it again.

    Vectors of the target stay: numbers were computed from them.

    Raises:
        HomeError: If a store cannot be read or written, or a vector is missing afterwards.
    """
    n = n_left_out = 0
    for encoder, rows in groupby(source.stored(), key=lambda row: row[0]):
        intact: dict[str, Vectors] = {}
        for row in rows:
            if is_intact_vector(*row):
                intact[row[1]] = np.frombuffer(row[2], np.float32)
            else:
                n_left_out += 1
            if len(intact) == _PAGE:
                n += _copy_missing(target, encoder, intact)
                intact = {}
        n += _copy_missing(target, encoder, intact)
    return VectorMergeResult(
        source=source.place, target=target.place, vectors=n, left_out=n_left_out
    )


def _copy_missing(target: VectorCache, encoder: str, vectors: dict[str, Vectors]) -> int:
    present = target.get(encoder, list(vectors))
    target.put(encoder, {key: vector for key, vector in vectors.items() if key not in present})
    if missing := vectors.keys() - target.get(encoder, list(vectors)).keys():
        raise HomeError(
            f"{target.place}: {len(missing)} vectors are missing after they were written, such as"
            f" {min(missing)}. The source is unchanged: run the command again."
        )
    return len(vectors)
