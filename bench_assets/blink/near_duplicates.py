"""Which pictures were used: every one once, across tasks and splits (section 3.2)."""

from collections.abc import Sequence

import imagehash
import numpy as np
from PIL.Image import Image


class UsedPictures:
    """The perceptual hashes of the pictures that questions have used up."""

    def __init__(self, near: int) -> None:
        self._near = near
        self._hashes: list[int] = []
        self._names: list[str] = []

    def like(self, hashes: Sequence[int]) -> str | None:
        """Name a used picture that one of these is a near-duplicate of, if there is one."""
        used = np.array(self._hashes, np.uint64)
        for one in hashes:
            bits = np.bitwise_count(used ^ np.uint64(one))
            if bits.size and bits.min() <= self._near:
                return self._names[int(bits.argmin())]
        return None

    def add(self, hashes: Sequence[int], name: str) -> None:
        """Use pictures up, for the entry of that name."""
        self._hashes += hashes
        self._names += [name] * len(hashes)


def perceptual_hash(picture: Image) -> int:
    """Hash how a picture looks: 64 bits of its low frequencies; like pictures differ in few."""
    return int(str(imagehash.phash(picture)), 16)
