"""Which pictures were used: every one once, across tasks and splits (section 3.2)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class _Used(NamedTuple):
    hash: int
    name: str
    scene: str


class UsedPictures:
    """The perceptual hashes of the pictures that questions have used up."""

    def __init__(self, near: int, used: Sequence[_Used] = ()) -> None:
        self._near = near
        self._used = list(used)

    def like(self, hashes: Sequence[int], scene: str = "") -> str | None:
        """Name a used picture that one of these is a near-duplicate of, if there is one.

        Pictures of one scene, if it has a name, may look alike: they are other views or lights.
        """
        others = [one for one in self._used if not scene or one.scene != scene]
        used = np.array([one.hash for one in others], np.uint64)
        for one in hashes:
            bits = np.bitwise_count(used ^ np.uint64(one))
            if bits.size and bits.min() <= self._near:
                return others[int(bits.argmin())].name
        return None

    def add(self, hashes: Sequence[int], name: str, scene: str = "") -> None:
        """Use pictures up, for the entry of that name."""
        self._used += [_Used(one, name, scene) for one in hashes]

    def copy(self) -> "UsedPictures":
        """Remember what is used up by now."""
        return UsedPictures(self._near, self._used)

    def go_back_to(self, before: "UsedPictures") -> None:
        """Take pictures for unused that were added since."""
        del self._used[len(before._used) :]
