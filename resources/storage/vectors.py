"""Cached embedding vectors.

Remembers vectors in a PostgreSQL that several homes share.

Vectors of one store taken into another, so that nothing is embedded again where a home moves.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import groupby, islice
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from bench_assets.core.schema.chat import Vectors
from bench_assets.core.schema.errors import HomeError
from resources.storage.atomic_write import describe_write_errors
from resources.storage.postgres import Connection, Database
from resources.storage.sqlite import connect, describe_sqlite_errors

IF_DAMAGED = "move it away: vectors are computed anew"
_MANY = 500  # keys of one query

StoredVector: TypeAlias = tuple[Any, Any, Any, Any]
"""Encoder, key, vector, digest as they stand, damaged or not; ``is_intact_vector`` tells."""


class Embedder(Protocol):
    """What does the work: batches in, vectors of any length out."""

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Embed a batch of texts."""
        ...

    def images(self, images: Sequence[str]) -> Vectors:
        """Embed a batch of images, by their SHA-256."""
        ...


class VectorCache(Protocol):
    """The port to what remembers vectors: a file of the home, or a database that homes share."""

    @property
    def place(self) -> str:
        """Where it is, for messages; tells no secret."""
        ...

    def get(self, encoder: str, keys: Sequence[str]) -> dict[str, Vectors]:
        """Find vectors that are known, by key; one that is damaged by now is not."""
        ...

    def put(self, encoder: str, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors; of two under one key the later one."""
        ...

    def stored(self) -> Iterator[StoredVector]:
        """Every vector as it stands, damaged or not."""
        ...


class SqliteVectorCache:
    """A SQLite file with one row for each model and content; many processes may use it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def place(self) -> str:
        """The path of the file."""
        return str(self._file)

    def get(self, encoder: str, keys: Sequence[str]) -> dict[str, Vectors]:
        """Find vectors that are known, by key; one that is damaged by now is not.

        Raises:
            HomeError: If the file as a whole is damaged.
        """
        known: dict[str, Vectors] = {}
        with describe_sqlite_errors(self._file, IF_DAMAGED), closing(self._open()) as db:
            for part in _chunks(keys):
                marks = ",".join("?" * len(part))
                rows = db.execute(
                    "SELECT key, vector, digest FROM vectors"
                    f" WHERE encoder = ? AND key IN ({marks})",
                    (encoder, *part),
                )
                known |= {
                    key: np.frombuffer(vector, np.float32)
                    for key, vector, digest in rows
                    if is_intact_vector(encoder, key, vector, digest)
                }
        return known

    def put(self, encoder: str, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors.

        Raises:
            HomeError: If the file is damaged, or the disk is full.
        """
        rows = vector_rows(encoder, vectors)
        with describe_sqlite_errors(self._file, IF_DAMAGED), closing(self._open()) as db, db:
            db.executemany(
                "INSERT OR REPLACE INTO vectors (encoder, key, vector, digest) VALUES (?, ?, ?, ?)",
                rows,
            )

    def stored(self) -> Iterator[StoredVector]:
        """Every vector as it stands; those of a file that is older than digests have none."""
        with describe_sqlite_errors(self._file, IF_DAMAGED), closing(self._open()) as db:
            yield from db.execute("SELECT encoder, key, vector, digest FROM vectors")

    def _open(self) -> sqlite3.Connection:
        with describe_write_errors(self._file):
            self._file.parent.mkdir(parents=True, exist_ok=True)
        db = connect(self._file)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(
            "CREATE TABLE IF NOT EXISTS vectors (encoder TEXT, key TEXT, vector BLOB, digest TEXT,"
            " PRIMARY KEY (encoder, key)) WITHOUT ROWID"
        )
        if "digest" not in {row[1] for row in db.execute("PRAGMA table_info(vectors)")}:
            with suppress(sqlite3.OperationalError):  # another process was faster
                db.execute("ALTER TABLE vectors ADD COLUMN digest TEXT")
        return db


def vector_rows(encoder: str, vectors: Mapping[str, Vectors]) -> list[tuple[str, str, bytes, str]]:
    """Vectors as they are kept, each with its digest, in the order of their keys."""
    return [
        (encoder, key, vector := vectors[key].tobytes(), _digest(encoder, key, vector))
        for key in sorted(vectors)
    ]


def is_intact_vector(encoder: object, key: object, vector: object, digest: object) -> bool:
    """Whether a vector is as it was written; one that is older than digests is taken as it is."""
    if not isinstance(vector, bytes) or len(vector) % np.float32().itemsize:
        return False
    return digest is None or digest == _digest(encoder, key, vector)


def _digest(encoder: object, key: object, vector: bytes) -> str:
    """Digest a row of the file; encoder and key are texts, unless they are damaged."""
    return sha256(f"{encoder!r} {key!r} ".encode() + vector).hexdigest()


class CachingEncoder:
    """Embeds what the store does not know yet, batch by batch; every vector has length 1."""

    def __init__(
        self,
        name: str,
        embedder: Embedder,
        store: VectorCache,
        batch_size: int,
        image_key: Callable[[str], str] = str,
    ) -> None:
        """Put a memory to what does the work.

        Args:
            name: Part of what a vector is remembered by.
            embedder: Does the work.
            store: The memory.
            batch_size: Texts or images at once.
            image_key: SHA-256 of an image -> what its vector is remembered by.
        """
        self._name = name
        self._embedder = embedder
        self._store = store
        self._batch_size = batch_size
        self._image_key = image_key

    @property
    def name(self) -> str:
        """Name, and digest of the weights."""
        return self._name

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Embed each text, in order; ``(n, dimensions)``."""
        keys = {text: _text_key(text) for text in texts}
        return self._encode(keys, texts, self._embedder.texts)

    def encode_images(self, images: Sequence[str]) -> Vectors:
        """Embed each image, by its SHA-256, in order; ``(n, dimensions)``.

        Raises:
            ImageError: If an image is not in the image store.
        """
        keys = {image: self._image_key(image) for image in images}
        return self._encode(keys, images, self._embedder.images)

    def _encode(
        self,
        keys: dict[str, str],
        contents: Sequence[str],
        embed: Callable[[Sequence[str]], Vectors],
    ) -> Vectors:
        known = self._store.get(self._name, list(keys.values()))
        # Sorted by length, so that short texts are not padded to long ones.
        missing = sorted((c for c, key in keys.items() if key not in known), key=len)
        for start in range(0, len(missing), self._batch_size):
            batch = missing[start : start + self._batch_size]
            vectors = _normalized(embed(batch))
            new = {keys[content]: v for content, v in zip(batch, vectors, strict=True)}
            self._store.put(self._name, new)
            known |= new
        if not contents:
            return np.zeros((0, 0), np.float32)
        return np.stack([known[keys[content]] for content in contents])


def _normalized(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, np.finfo(np.float32).tiny), np.float32)


def _text_key(text: str) -> str:
    return f"text:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _chunks(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), _MANY):
        yield keys[start : start + _MANY]


VERSION = 1
_SCHEMA = """
CREATE TABLE bench_vectors (encoder text, key text, vector bytea NOT NULL, digest text NOT NULL,
    PRIMARY KEY (encoder, key));
"""
_POSTGRES_CHUNK = 1000  # vectors of one statement: a few MB
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


class PostgresVectorCache:
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
        for start in range(0, len(wanted), _POSTGRES_CHUNK):
            given = (encoder, wanted[start : start + _POSTGRES_CHUNK])
            for one in self._database.run(partial(_fetched, sql=_GET, given=given)):
                if is_intact_vector(*one):
                    known[one[1]] = np.frombuffer(one[2], np.float32)
        return known

    def put(self, encoder: str, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors.

        Raises:
            HomeError: If the database cannot be reached.
        """
        rows = vector_rows(encoder, vectors)
        for start in range(0, len(rows), _POSTGRES_CHUNK):
            _, *columns = map(list, zip(*rows[start : start + _POSTGRES_CHUNK], strict=True))
            self._database.run(partial(_put, given=(encoder, *columns)))

    def stored(self) -> Iterator[StoredVector]:
        """Every vector as it stands, each thousand in a transaction."""
        after = ("", "")
        while page := self._database.run(
            partial(_fetched, sql=_PAGE, given=(*after, _POSTGRES_CHUNK))
        ):
            yield from page
            after = page[-1][:2]


def _put(db: Connection, given: tuple[Any, ...]) -> None:
    db.execute(_PUT, given)


def _fetched(db: Connection, sql: str, given: tuple[Any, ...]) -> list[StoredVector]:
    found = db.execute(sql, given, binary=True)
    return [(one["encoder"], one["key"], one["vector"], one["digest"]) for one in found]


_AT_ONCE = 1000  # vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorMergeResult:
    """What became of the vectors of a store."""

    source: str
    target: str
    vectors: int  # whole ones, all of which are in the target now
    left_out: int  # damaged ones: the source keeps them


def merge_vectors(target: VectorCache, source: VectorCache) -> VectorMergeResult:
    """Take every whole vector over that is not there, and look that it is; the source stays.

    What is there stays as it is: numbers were made of it. Ended half way, it may be begun again.

    Raises:
        HomeError: If one cannot be read or written, or was not there after it was written.
    """
    n = n_left_out = 0
    rows = source.stored()
    while part := list(islice(rows, _AT_ONCE)):
        whole = [one for one in part if is_intact_vector(*one) and _is_storable(one)]
        for encoder, vectors in _by_encoder(whole):
            _copy_missing(target, encoder, vectors)
        n += len(whole)
        n_left_out += len(part) - len(whole)
    return VectorMergeResult(
        source=source.place, target=target.place, vectors=n, left_out=n_left_out
    )


def _copy_missing(target: VectorCache, encoder: str, vectors: dict[str, Vectors]) -> None:
    there = target.get(encoder, list(vectors))
    target.put(encoder, {key: one for key, one in vectors.items() if key not in there})
    if missing := vectors.keys() - target.get(encoder, list(vectors)).keys():
        raise HomeError(
            f"{target.place}: {len(missing)} vectors are not there that were just written, such as"
            f" {min(missing)}; nothing was deleted: try again"
        )


def _by_encoder(rows: list[StoredVector]) -> Iterator[tuple[str, dict[str, Vectors]]]:
    for encoder, of in groupby(sorted(rows, key=lambda one: one[0]), key=lambda one: one[0]):
        yield encoder, {key: np.frombuffer(vector, np.float32) for _, key, vector, _ in of}


def _is_storable(row: StoredVector) -> bool:
    """Whether a database takes its names: letters, none of them half, and none of number 0."""
    return all(
        isinstance(one, str) and "\0" not in one and one == one.encode(errors="replace").decode()
        for one in row[:2]
    )
