"""Merges what several annotators wrote about an image by majority vote (section 2.2).

Equal and near-equal items are one item (``sameness``); what two annotators gave is accepted, what
one gave waits for a person, beside what comes near it.

A person decides by an entry of ``reviews.json`` (``reviews``).
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bench_assets.core.schema.chat import TextEncoder
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.stats.rater_agreement import (
    krippendorff_alpha,
    pairwise_agreement,
    unanimous_share,
)
from bench_assets.suites.cogbench.construction.annotation_parsing import (
    DESCRIPTION,
    FIELDS,
    AnnotatedItem,
)
from bench_assets.suites.cogbench.construction.reviews import (
    Name,
    Review,
    decisions,
    idle,
    name_of,
    said_to_be_one,
)
from bench_assets.suites.cogbench.construction.selection import plain
from bench_assets.suites.cogbench.construction.similarity import SimilarityResult

Outcome: TypeAlias = Literal["accepted", "rejected", "waiting"]

_VOTES = 2  # annotators who have to give an item


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedItem:
    """An entity or chain of an image, as one or more annotators gave it."""

    image: str
    field: str
    text: str  # the variant that is closest to the others
    variants: tuple[str, ...]  # all, in the order of the annotators
    annotators: tuple[str, ...]  # who gave it
    outcome: Outcome
    reason: str
    near: tuple[str, ...] = ()  # what comes close and is not the same, and why not, for a person


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAgreement:
    """How far the annotators give the same items of one section."""

    field: str
    n_items: int
    unanimous: float  # share of items that all or none of an image's annotators gave
    pairwise: float  # mean share of pairs of annotators who agree on an item
    alpha: float  # Krippendorff's; what nobody gave is no item, which lowers it


class MergedItems(NamedTuple):
    """All items of all images, and the reviews that decide nothing."""

    items: list[MergedItem]
    idle_reviews: list[Rejection]


def merge_items(
    items: Sequence[AnnotatedItem],
    reviews: Sequence[Review],
    encoder: TextEncoder,
    similarity: float,
    near: float = 0.5,
) -> MergedItems:
    """Merge entities and chains, by image and section.

    Args:
        items: As annotated.
        reviews: Decisions of people.
        encoder: Embeds the items.
        similarity: Least cosine of two items that are one.
        near: Least cosine of two items that are shown beside each other.

    Raises:
        SourceError: If a review accepts what another one rejects.
    """
    noted = sorted((item for item in items if item.field != DESCRIPTION), key=_place)
    comparison = SimilarityResult(noted, encoder)
    decided_on = decisions(reviews)
    joined = said_to_be_one(reviews)
    merged: list[MergedItem] = []
    for _, group in groupby(noted, key=_place):
        together = list(group)
        links = _Links(together, comparison, joined, near)
        clusters = _clusters(together, links.cosines, similarity, links.joined())
        for cluster in clusters:
            names = {name_of(together[number]) for number in cluster}
            decided = sorted(names & decided_on.keys())
            accept = decided_on[decided[0]] if decided else None
            merged.append(_merged(together, cluster, links, accept))
    return MergedItems(merged, idle(reviews, items))


def agreement(items: Iterable[AnnotatedItem], merged: Sequence[MergedItem]) -> list[FieldAgreement]:
    """Say how far the annotators agree on the items of each section; no rows for empty ones."""
    people: dict[str, set[str]] = {}
    for item in items:
        people.setdefault(item.image, set()).add(item.annotator)
    rows = []
    for section in FIELDS:
        units = [
            [name in item.annotators for name in sorted(people[item.image])]
            for item in merged
            if item.field == section
        ]
        if units:
            rows.append(
                FieldAgreement(
                    field=section,
                    n_items=len(units),
                    unanimous=unanimous_share(units),
                    pairwise=pairwise_agreement(units),
                    alpha=krippendorff_alpha(units),
                )
            )
    return rows


def _place(item: AnnotatedItem) -> tuple[str, int]:
    return item.image, FIELDS.index(item.field)


class _Links:
    """How the items of one section of an image are linked with each other."""

    def __init__(
        self,
        items: Sequence[AnnotatedItem],
        comparison: SimilarityResult,
        joined: Collection[frozenset[Name]],
        near: float,
    ) -> None:
        self._items, self._joined, self._near = items, joined, near
        self._likeness = [[comparison.likeness(one, other) for other in items] for one in items]
        self.cosines = np.array([[one.as_one for one in row] for row in self._likeness])

    def joined(self) -> list[tuple[int, int]]:
        """Pairs that a person said are one."""
        names = [name_of(item) for item in self._items]
        pairs = combinations(range(len(names)), 2)
        return [(i, j) for i, j in pairs if frozenset((names[i], names[j])) in self._joined]

    def near(self, cluster: Sequence[int]) -> tuple[str, ...]:
        """What comes near a cluster from outside of it, the closest first."""
        found = {
            (max(self._likeness[i][j].cosine for i in cluster), self._items[j].text): why
            for j in range(len(self._items))
            if j not in cluster
            for why in [self._likeness[cluster[0]][j].objection]
        }
        return tuple(
            f"{cosine:.2f} {text}" + (f" ({why})" if why else "")
            for (cosine, text), why in sorted(found.items(), reverse=True)
            if cosine >= self._near
        )


def _clusters(
    items: Sequence[AnnotatedItem],
    cosines: npt.NDArray[np.float64],
    similarity: float,
    joined: Sequence[tuple[int, int]],
) -> list[tuple[int, ...]]:
    """Join the closest clusters while all their members are close (complete linkage).

    Two different things that one annotator lists are two things, however close they are, unless a
    person says that they are one.
    """
    clusters = _joined(_equal(items), joined)
    while True:
        close = [
            (min(float(cosines[i, j]) for i in one for j in other), -n, one, other)
            for n, (one, other) in enumerate(combinations(clusters, 2))
            if not {items[i].annotator for i in one} & {items[j].annotator for j in other}
        ]
        if not close or max(close)[0] < similarity:
            return sorted(clusters)
        *_, one, other = max(close)
        clusters = [c for c in clusters if c not in (one, other)]
        clusters.append(tuple(sorted(one + other)))


def _equal(items: Sequence[AnnotatedItem]) -> list[tuple[int, ...]]:
    by_text: dict[str, tuple[int, ...]] = {}
    for number, item in enumerate(items):
        by_text[plain(item.text)] = (*by_text.get(plain(item.text), ()), number)
    return list(by_text.values())


def _joined(
    clusters: list[tuple[int, ...]], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, ...]]:
    for pair in pairs:
        one, other = (next(c for c in clusters if number in c) for number in pair)
        if one != other:
            clusters = [c for c in clusters if c not in (one, other)]
            clusters.append(tuple(sorted(one + other)))
    return sorted(clusters)


def _merged(
    items: Sequence[AnnotatedItem], cluster: Sequence[int], links: _Links, accept: bool | None
) -> MergedItem:
    members = [items[number] for number in cluster]
    annotators = tuple(dict.fromkeys(member.annotator for member in members))
    outcome: Outcome = "accepted" if len(annotators) >= _VOTES else "waiting"
    if accept is not None:
        outcome = "accepted" if accept else "rejected"
    closest = links.cosines[np.ix_(cluster, cluster)].sum(axis=1).argmax()
    return MergedItem(
        image=members[0].image,
        field=members[0].field,
        text=members[int(closest)].text,
        variants=tuple(member.text for member in members),
        annotators=annotators,
        outcome=outcome,
        reason=f"given by {len(annotators)}" + ("" if accept is None else ", decided by review"),
        near=links.near(cluster) if outcome == "waiting" else (),
    )
