"""Deals out places and splits, so that no answer letter and no split is favoured.

Which images were used: every one once, across tasks and splits (section 3.2).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from math import ceil
from random import Random
from typing import NamedTuple

import numpy as np

from bench_assets.suites.blink.dataset.draft import Draft


def share_of(draft: Draft, wanted: int) -> int:
    """How many of the wanted questions may have just these places for the right option.

    Where the data settle the place, as in yes and no, taking no more than this keeps the letters
    balanced.
    """
    return ceil(wanted * len(draft.places) / draft.n_options)


def deal_places(drafts: Sequence[Draft], rng: Random) -> list[int]:
    """Give each draft's right option a place, the letters balanced as far as the data allow."""
    used: Counter[int] = Counter()
    places: dict[int, int] = {}
    for nth in sorted(range(len(drafts)), key=lambda nth: len(drafts[nth].places)):
        free = drafts[nth].places
        fewest = min(used[place] for place in free)
        places[nth] = rng.choice([place for place in free if used[place] == fewest])
        used[places[nth]] += 1
    return [places[nth] for nth in range(len(drafts))]


def deal_splits(places: Sequence[int], rng: Random) -> list[tuple[str, int]]:
    """Give each question its split and its number there; every letter halves evenly.

    The order of numbers has nothing to do with the letters.
    """
    order = rng.sample(range(len(places)), len(places))
    by_letter = sorted(order, key=lambda nth: places[nth])
    splits = {nth: ("val", "test")[turn % 2] for turn, nth in enumerate(by_letter)}
    numbers: dict[str, Iterator[int]] = {"val": count(1), "test": count(1)}
    named = {nth: (splits[nth], next(numbers[splits[nth]])) for nth in order}
    return [named[nth] for nth in range(len(places))]


class _UsedImage(NamedTuple):
    hash: int
    name: str
    scene: str


class UsedImages:
    """The perceptual hashes of the images that questions have used up."""

    def __init__(self, near: int, used: Sequence[_UsedImage] = ()) -> None:
        self._near = near
        self._used = list(used)

    def like(self, hashes: Sequence[int], scene: str = "") -> str | None:
        """Name a used image that one of these is a near-duplicate of, if there is one.

        Images of one scene, if it has a name, may look alike: they are other views or lights.
        """
        others = [one for one in self._used if not scene or one.scene != scene]
        used = np.array([one.hash for one in others], np.uint64)
        for one in hashes:
            bits = np.bitwise_count(used ^ np.uint64(one))
            if bits.size and bits.min() <= self._near:
                return others[int(bits.argmin())].name
        return None

    def add(self, hashes: Sequence[int], name: str, scene: str = "") -> None:
        """Use images up, for the entry of that name."""
        self._used += [_UsedImage(one, name, scene) for one in hashes]

    def copy(self) -> "UsedImages":
        """Remember what is used up by now."""
        return UsedImages(self._near, self._used)

    def go_back_to(self, before: "UsedImages") -> None:
        """Take images for unused that were added since."""
        del self._used[len(before._used) :]
