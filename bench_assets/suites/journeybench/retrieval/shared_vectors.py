"""Vectors that the conditions of an evaluation share, which run one after another in a process."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from bench_assets.core.schema.chat import ImageTextEncoder, Vectors


class SharedVectors:
    """An encoder that embeds each text and image once in a process, until another one is used.

    Encoders with different names share nothing.
    """

    def __init__(self, encoder: ImageTextEncoder) -> None:
        self.name = encoder.name
        self._encoder = encoder

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Embed each text, in order; ``(n, dimensions)``."""
        return _embed(texts, _cached_vectors(self.name, "texts"), self._encoder.encode_texts)

    def encode_images(self, images: Sequence[str]) -> Vectors:
        """Embed each image, by its SHA-256, in order; ``(n, dimensions)``.

        Raises:
            ImageError: If an image is not in the image store.
        """
        return _embed(images, _cached_vectors(self.name, "images"), self._encoder.encode_images)


@lru_cache(maxsize=2)  # texts and images of the last encoder
def _cached_vectors(encoder_name: str, content_type: str) -> dict[str, Vectors]:
    """Vectors of an encoder, by content; ``_embed`` adds them."""
    return {}


def _embed(
    contents: Sequence[str], cache: dict[str, Vectors], encode: Callable[[Sequence[str]], Vectors]
) -> Vectors:
    """Look up the vectors of contents; missing ones are encoded and added to the cache."""
    if not contents:
        return encode([])
    missing = [content for content in dict.fromkeys(contents) if content not in cache]
    if missing:
        cache.update(zip(missing, encode(missing), strict=True))
    return np.stack([cache[content] for content in contents])
