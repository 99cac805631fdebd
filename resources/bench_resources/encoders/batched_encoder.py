"""Encoder that embeds each distinct content once, in batches."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from bench_assets.core.schema.chat import Vectors


class Embedder(Protocol):
    """An embedding model; its vectors may have any norm."""

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Embed a batch of texts."""
        ...

    def images(self, images: Sequence[str]) -> Vectors:
        """Embed a batch of images, by their SHA-256."""
        ...


class BatchedEncoder:
    """An encoder whose vectors have norm 1."""

    def __init__(self, name: str, embedder: Embedder, batch_size: int) -> None:
        """Store the model, its name with a digest of the weights, and the contents per batch."""
        self.name = name
        self._embedder = embedder
        self._batch_size = batch_size

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Embed each text, in order; ``(n, dimensions)``, or ``(0, 0)`` for none."""
        return self._encode(texts, self._embedder.texts)

    def encode_images(self, images: Sequence[str]) -> Vectors:
        """Embed each image, by its SHA-256, in order; ``(n, dimensions)``, or ``(0, 0)`` for none.

        Raises:
            ImageError: If an image is not in the image store, or does not decode.
        """
        return self._encode(images, self._embedder.images)

    def _encode(
        self, contents: Sequence[str], embed: Callable[[Sequence[str]], Vectors]
    ) -> Vectors:
        if not contents:
            return np.zeros((0, 0), np.float32)
        # Sorted by length, so that short texts are not padded to long ones.
        distinct = sorted(set(contents), key=lambda content: (len(content), content))
        starts = range(0, len(distinct), self._batch_size)
        batches = [distinct[start : start + self._batch_size] for start in starts]
        vectors = _normalize(np.concatenate([embed(batch) for batch in batches]))
        row_by_content = {content: row for row, content in enumerate(distinct)}
        return vectors[[row_by_content[content] for content in contents]]


def _normalize(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, np.finfo(np.float32).tiny), np.float32)
