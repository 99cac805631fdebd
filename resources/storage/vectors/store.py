"""Cached embedding vectors."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from bench_assets.core.schema.chat import Vectors
from resources.storage.atomic_write import told_of_writing
from resources.storage.sqlite import connect, told

IF_DAMAGED = "move it away: vectors are computed anew"
_MANY = 500  # keys of one query

StoredVector: TypeAlias = tuple[Any, Any, Any, Any]
"""Encoder, key, vector, digest as they stand, damaged or not; ``is_whole`` tells."""


class Embedder(Protocol):
    """What does the work: batches in, vectors of any length out."""

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Embed a batch of texts."""
        ...

    def images(self, images: Sequence[str]) -> Vectors:
        """Embed a batch of images, by their SHA-256."""
        ...


class KnownVectors(Protocol):
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


class VectorStore:
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
        with told(self._file, IF_DAMAGED), closing(self._open()) as db:
            for part in _in_parts(keys):
                marks = ",".join("?" * len(part))
                rows = db.execute(
                    "SELECT key, vector, digest FROM vectors"
                    f" WHERE encoder = ? AND key IN ({marks})",
                    (encoder, *part),
                )
                known |= {
                    key: np.frombuffer(vector, np.float32)
                    for key, vector, digest in rows
                    if is_whole(encoder, key, vector, digest)
                }
        return known

    def put(self, encoder: str, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors.

        Raises:
            HomeError: If the file is damaged, or the disk is full.
        """
        rows = written(encoder, vectors)
        with told(self._file, IF_DAMAGED), closing(self._open()) as db, db:
            db.executemany(
                "INSERT OR REPLACE INTO vectors (encoder, key, vector, digest) VALUES (?, ?, ?, ?)",
                rows,
            )

    def stored(self) -> Iterator[StoredVector]:
        """Every vector as it stands; those of a file that is older than digests have none."""
        with told(self._file, IF_DAMAGED), closing(self._open()) as db:
            yield from db.execute("SELECT encoder, key, vector, digest FROM vectors")

    def _open(self) -> sqlite3.Connection:
        with told_of_writing(self._file):
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


def written(encoder: str, vectors: Mapping[str, Vectors]) -> list[tuple[str, str, bytes, str]]:
    """Vectors as they are kept, each with its digest, in the order of their keys."""
    return [
        (encoder, key, vector := vectors[key].tobytes(), _digest(encoder, key, vector))
        for key in sorted(vectors)
    ]


def is_whole(encoder: object, key: object, vector: object, digest: object) -> bool:
    """Whether a vector is as it was written; one that is older than digests is taken as it is."""
    if not isinstance(vector, bytes) or len(vector) % np.float32().itemsize:
        return False
    return digest is None or digest == _digest(encoder, key, vector)


def _digest(encoder: object, key: object, vector: bytes) -> str:
    """Digest a row of the file; encoder and key are texts, unless they are damaged."""
    return sha256(f"{encoder!r} {key!r} ".encode() + vector).hexdigest()


class RememberingEncoder:
    """Embeds what the store does not know yet, batch by batch; every vector has length 1."""

    def __init__(
        self,
        name: str,
        embedder: Embedder,
        store: KnownVectors,
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
            vectors = _of_length_one(embed(batch))
            new = {keys[content]: v for content, v in zip(batch, vectors, strict=True)}
            self._store.put(self._name, new)
            known |= new
        if not contents:
            return np.zeros((0, 0), np.float32)
        return np.stack([known[keys[content]] for content in contents])


def _of_length_one(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, np.finfo(np.float32).tiny), np.float32)


def _text_key(text: str) -> str:
    return f"text:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _in_parts(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), _MANY):
        yield keys[start : start + _MANY]
