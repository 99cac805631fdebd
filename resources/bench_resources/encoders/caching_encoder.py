"""Encoder that caches vectors."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bench_assets.core.schema.chat import Vectors
from bench_assets.core.schema.provenance import text_key

if TYPE_CHECKING:
    from bench_resources.storage.vectors import VectorCache


class Embedder(Protocol):
    """An embedding model; its vectors may have any norm."""

    def texts(self, texts: Sequence[str]) -> Vectors:
        """Embed a batch of texts."""
        ...

    def images(self, images: Sequence[str]) -> Vectors:
        """Embed a batch of images, by their SHA-256."""
        ...


class CachingEncoder:
    """An encoder that embeds only contents without a cached vector; vectors have norm 1."""

    def __init__(
        self,
        name: str,
        embedder: Embedder,
        store: "VectorCache",
        batch_size: int,
        image_key: Callable[[str], str] = str,
    ) -> None:
        """Combine an embedding model with a cache.

        Args:
            name: Name of the encoder with a digest of its weights; part of a vector's key.
            embedder: The model.
            store: The cache.
            batch_size: Texts or images per batch.
            image_key: Computes the key of an image's vector from its SHA-256.
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
        keys = {text: text_key(text) for text in texts}
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
            vectors = _normalize(embed(batch))
            new = {keys[content]: v for content, v in zip(batch, vectors, strict=True)}
            self._store.put(self._name, new)
            known |= new
        if not contents:
            return np.zeros((0, 0), np.float32)
        return np.stack([known[keys[content]] for content in contents])


def _normalize(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, np.finfo(np.float32).tiny), np.float32)
