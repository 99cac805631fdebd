"""What the pure code knows of encoders: texts and images go in, vectors come out."""

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]
"""One row a text or image, each of length 1: a product of two rows is their cosine."""


class TextEncoder(Protocol):
    """Anything that turns texts into vectors."""

    @property
    def name(self) -> str:
        """The name to show and to put into signatures, with a digest of the weights."""
        ...

    def encode_texts(self, texts: Sequence[str]) -> Vectors:
        """Embed each text, in order; ``(n, dimensions)``, also for no texts at all."""
        ...


class ImageTextEncoder(TextEncoder, Protocol):
    """Anything that turns texts and images into vectors of one space, as CLIP does."""

    def encode_images(self, images: Sequence[str]) -> Vectors:
        """Embed each image, by its SHA-256, in order; ``(n, dimensions)``.

        Raises:
            ImageError: If an image is not in the image store.
        """
        ...
