"""Remembers vectors by what they are of, so that nothing is embedded twice by one model."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import numpy as np

from bench_assets.core.embedding import Vectors

_MANY = 500  # keys of one query


class Embedder(Protocol):
    """What does the work: batches in, vectors of any length out."""

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Embed a batch of texts."""
        ...

    def images(self, images: Sequence[str]) -> Vectors:
        """Embed a batch of pictures, by their SHA-256."""
        ...


class VectorStore:
    """A SQLite file with one row for each model and content; many processes may use it."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def get(self, encoder: str, keys: Sequence[str]) -> dict[str, Vectors]:
        """Find vectors that are known, by key."""
        known: dict[str, Vectors] = {}
        with closing(self._open()) as db:
            for part in _in_parts(keys):
                marks = ",".join("?" * len(part))
                rows = db.execute(
                    f"SELECT key, vector FROM vectors WHERE encoder = ? AND key IN ({marks})",
                    (encoder, *part),
                )
                known |= {key: np.frombuffer(vector, np.float32) for key, vector in rows}
        return known

    def put(self, encoder: str, vectors: dict[str, Vectors]) -> None:
        """Keep vectors."""
        rows = [(encoder, key, vector.tobytes()) for key, vector in vectors.items()]
        with closing(self._open()) as db, db:
            db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _open(self) -> sqlite3.Connection:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._file, timeout=60)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(
            "CREATE TABLE IF NOT EXISTS vectors (encoder TEXT, key TEXT, vector BLOB, "
            "PRIMARY KEY (encoder, key)) WITHOUT ROWID"
        )
        return db


class RememberingEncoder:
    """Embeds what the store does not know yet, batch by batch; every vector has length 1."""

    def __init__(self, name: str, embedder: Embedder, store: VectorStore, batch_size: int) -> None:
        self._name = name
        self._embedder = embedder
        self._store = store
        self._batch_size = batch_size

    @property
    def name(self) -> str:
        """Name, and digest of the weights."""
        return self._name

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Embed each text, in order; ``(n, dimensions)``."""
        keys = {text: _text_key(text) for text in texts}
        return self._encode(keys, texts, self._embedder.texts)

    def encode_images(self, images: Sequence[str]) -> Vectors:
        """Embed each picture, by its SHA-256, in order; ``(n, dimensions)``.

        Raises:
            ImageError: If a picture is not in the image store.
        """
        return self._encode({image: image for image in images}, images, self._embedder.images)

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
