"""Merges what several annotators wrote about a picture by majority vote (section 2.2).

Equal and near-equal items are one item; what two annotators gave is accepted, what one gave waits
for a person.

A person decides by an entry of ``reviews.json``: ``{image, field, text, accept}``, where ``text``
is the item as the table of merged items has it, or as any annotator wrote it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from bench_assets.cogbench.annotations import DESCRIPTION, FIELDS, AnnotatedItem
from bench_assets.cogbench.select import plain
from bench_assets.cogbench.source import REVIEWS
from bench_assets.core.agreement import krippendorff_alpha, pairwise_agreement, unanimous_share
from bench_assets.core.embedding import TextEncoder, Vectors
from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import field, read_entries
from bench_assets.core.rows import Rejection

Outcome: TypeAlias = Literal["accepted", "rejected", "waiting"]

_VOTES = 2  # annotators who have to give an item


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a person decided about something that one annotator alone had noted."""

    image: str
    field: str  # "Entities", "Description" or a kind of reasoning
    text: str
    accept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedItem:
    """An entity or chain of a picture, as one or more annotators gave it."""

    image: str
    field: str
    text: str  # the variant that is closest to the others
    variants: tuple[str, ...]  # all, in the order of the annotators
    annotators: tuple[str, ...]  # who gave it
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAgreement:
    """How far the annotators give the same items of one section."""

    field: str
    n_items: int
    unanimous: float  # share of items that all or none of a picture's annotators gave
    pairwise: float  # mean share of pairs of annotators who agree on an item
    alpha: float  # Krippendorff's; what nobody gave is no item, which lowers it


class Merged(NamedTuple):
    """All items of all pictures, and the reviews that decide nothing."""

    items: list[MergedItem]
    idle_reviews: list[Rejection]


def read_reviews(folder: Path) -> list[Review]:
    """Read what people decided about single votes; nothing without the file.

    Raises:
        SourceError: If an entry is not of the form above; names file and entry.
    """
    file = folder / REVIEWS
    if not file.is_file():
        return []
    return [
        Review(
            image=field(entry, "image", str, where),
            field=field(entry, "field", str, where),
            text=field(entry, "text", str, where),
            accept=field(entry, "accept", bool, where),
        )
        for entry, where in read_entries(file)
    ]


def merge_items(
    items: Iterable[AnnotatedItem],
    reviews: Sequence[Review],
    encoder: TextEncoder,
    similarity: float,
) -> Merged:
    """Merge entities and chains, by picture and section.

    Args:
        items: As annotated.
        reviews: Decisions of people on items that one annotator gave.
        encoder: Embeds the items.
        similarity: Least cosine of two items that are one.

    Raises:
        SourceError: If a review accepts what another one rejects.
    """
    noted = sorted((item for item in items if item.field != DESCRIPTION), key=_place)
    texts = list(dict.fromkeys(item.text for item in noted))
    vectors = dict(zip(texts, encoder.encode_texts(texts), strict=True))
    decisions = _decisions(reviews)
    used: set[tuple[str, str, str]] = set()
    merged = []
    for _, group in groupby(noted, key=_place):
        together = list(group)
        rows = np.stack([vectors[item.text] for item in together])
        for cluster in _clusters(together, rows @ rows.T, similarity):
            members = [together[number] for number in cluster]
            names = {(one.image, one.field, plain(one.text)) for one in members}
            decided = sorted(names & decisions.keys())
            used.update(decided)
            accept = decisions[decided[0]] if decided else None
            merged.append(_merged(members, rows[list(cluster)], accept))
    idle = [
        Rejection(entry=f"{REVIEWS}, {review.image}, [{review.field}]", reason=_idle(review))
        for review in reviews
        if (review.image, review.field, plain(review.text)) not in used
    ]
    return Merged(merged, idle)


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


def _clusters(
    items: Sequence[AnnotatedItem], cosines: Vectors, similarity: float
) -> list[tuple[int, ...]]:
    """Join the closest clusters while all their members are close (complete linkage).

    Two different things that one annotator lists are two things, however close they are.
    """
    clusters = _equal(items)
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


def _merged(members: Sequence[AnnotatedItem], rows: Vectors, accept: bool | None) -> MergedItem:
    annotators = tuple(dict.fromkeys(member.annotator for member in members))
    outcome: Outcome = "accepted" if len(annotators) >= _VOTES else "waiting"
    if accept is not None:
        outcome = "accepted" if accept else "rejected"
    return MergedItem(
        image=members[0].image,
        field=members[0].field,
        text=members[int((rows @ rows.T).sum(axis=1).argmax())].text,
        variants=tuple(member.text for member in members),
        annotators=annotators,
        outcome=outcome,
        reason=f"given by {len(annotators)}" + ("" if accept is None else ", decided by review"),
    )


def _decisions(reviews: Iterable[Review]) -> dict[tuple[str, str, str], bool]:
    decisions: dict[tuple[str, str, str], bool] = {}
    for review in reviews:
        place = review.image, review.field, plain(review.text)
        if decisions.setdefault(place, review.accept) != review.accept:
            raise SourceError(
                f"{REVIEWS}: {review.text!r} of {review.image} is accepted and rejected; keep one"
            )
    return decisions


def _idle(review: Review) -> str:
    return f"no annotator gave {review.text!r}: the review decides nothing"
