"""Near-duplicates among the items of one's own edition ("over 800 similar questions", 3.2)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench_assets.core.dedup import hash_distance, similar_texts
from bench_assets.multi.prompts import IMAGE_TOKEN
from bench_assets.multi.source import Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """Two items that are nearly the same; the later one goes if the earlier one stays."""

    item_id: str
    earlier: str
    similarity: float  # of their texts, [0, 1]
    distance: int  # largest between their pictures, in bits of 64; 0 without pictures
    dropped: bool


def duplicates(
    items: Sequence[Item], hashes: Mapping[str, str], similarity: float, distance: int
) -> list[Duplicate]:
    """Find pairs alike in text and in every picture; those of one problem are meant to be alike.

    Args:
        items: In order: of a pair the later one is the duplicate.
        hashes: Perceptual hash of each picture by name.
        similarity: Least of the texts' shingles.
        distance: Most bits by which the hashes of two pictures may differ.
    """
    by_id = {item.item_id: item for item in items}
    texts = {name: IMAGE_TOKEN.sub("", item.text) for name, item in by_id.items()}
    pairs: dict[str, list[tuple[str, float, int]]] = defaultdict(list)
    for twin in similar_texts(texts, similarity):
        later, earlier = by_id[twin.later], by_id[twin.earlier]
        apart = _distance(later, earlier, hashes)
        if later.problem_id != earlier.problem_id and apart is not None and apart <= distance:
            pairs[twin.later].append((twin.earlier, twin.similarity, apart))
    dropped: set[str] = set()
    for name, found in pairs.items():
        if any(earlier not in dropped for earlier, _, _ in found):
            dropped.add(name)
    return [
        Duplicate(
            item_id=name,
            earlier=earlier,
            similarity=alike,
            distance=apart,
            dropped=name in dropped,
        )
        for name, found in pairs.items()
        for earlier, alike, apart in found
    ]


def _distance(one: Item, other: Item, hashes: Mapping[str, str]) -> int | None:
    """Largest distance between pictures in the same place; None if one has more of them."""
    shown = [[hashes[name] for name in _shown(item)] for item in (one, other)]
    if len(shown[0]) != len(shown[1]):
        return None
    return max((hash_distance(a, b) for a, b in zip(*shown, strict=True)), default=0)


def _shown(item: Item) -> list[str]:
    return [item.images[int(match[1]) - 1] for match in IMAGE_TOKEN.finditer(item.text)]
