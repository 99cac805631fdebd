"""What people decided about transformations, knowledge and near-duplicates, applied to tables.

The steps of the built route that look at several tables at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.multi.construction.annotation_merging import (
    AnnotatedItems,
    Annotation,
    merge,
)
from bench_assets.suites.multi.construction.defects import defects
from bench_assets.suites.multi.construction.near_duplicates import Duplicate
from bench_assets.suites.multi.construction.rewriting import Transformation
from bench_assets.suites.multi.construction.selection import SelectionDecision
from bench_assets.suites.multi.dataset.knowledge import WRITTEN, KnowledgeLink
from bench_assets.suites.multi.dataset.source import Knowledge, MultiItem

BY_HAND = "by hand"
"""Name of a transformation that a person wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPiece:
    """The piece of knowledge that one person wrote for one item (section 3.4)."""

    item_id: str
    person: str
    name: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinDecision:
    """What people say of two items that are alike, and differ in what decides their answer."""

    item_id: str  # the later one
    earlier: str
    drop: str  # "later", "earlier", or "": both stay


class KnowledgeLinks(NamedTuple):
    """Which item has which piece of knowledge, and the pieces."""

    links: list[KnowledgeLink]
    pieces: dict[str, Knowledge]


def by_hand(items: Iterable[MultiItem], annotations: Iterable[Annotation]) -> list[Transformation]:
    """Make a transformation of each item that somebody wrote anew; a broken one has its fault."""
    written = {one.item_id: one for one in annotations if one.changes}
    return [_transformed(item, written[item.item_id]) for item in items if item.item_id in written]


def informed(
    links: Iterable[KnowledgeLink],
    pieces: Mapping[str, Knowledge],
    written: Iterable[WrittenPiece],
) -> KnowledgeLinks:
    """Give items the pieces that people wrote for them, where they have none.

    Of several pieces for one item the first counts. One whose name is taken by another text has
    the item's id beside its name.
    """
    first = {one.item_id: one for one in reversed(list(written))}
    found = KnowledgeLinks([], dict(pieces))
    for link in links:
        piece = None if link.knowledge else first.get(link.item_id)
        if piece is None:
            found.links.append(link)
            continue
        there = found.pieces.get(piece.name)
        taken = there is not None and there.content != piece.content
        name = f"{piece.name} ({link.item_id})" if taken else piece.name
        found.pieces.setdefault(name, Knowledge(name=name, content=piece.content))
        found.links.append(replace(link, knowledge=name, how=WRITTEN))
    return found


def settled(pairs: Sequence[Duplicate], decisions: Iterable[TwinDecision]) -> list[Duplicate]:
    """Drop what people call one question with another; all else stays as it was found.

    A decision about a pair that is no conflict any more is not looked at.
    """
    said = {(one.item_id, one.earlier): one.drop for one in decisions}
    return [
        _settled(pair, said.get((pair.item_id, pair.earlier), "") if pair.conflict else "")
        for pair in pairs
    ]


def _transformed(item: MultiItem, annotation: Annotation) -> Transformation:
    changes: dict[str, Any] = dict(annotation.changes)
    made = replace(item, **changes)
    return Transformation(
        item_id=item.item_id,
        name=BY_HAND,
        by=annotation.annotator,
        new_id=made.item_id,
        type=made.type,
        general=made.general,
        specific=made.specific,
        answer=made.answer,
        fault="; ".join(defects(made)),
    )


def _settled(pair: Duplicate, drop: str) -> Duplicate:
    if not drop:
        return pair
    alike = replace(pair, conflict="", dropped=True)
    return alike if drop == "later" else replace(alike, item_id=pair.earlier, earlier=pair.item_id)


def annotate(
    items: Sequence[MultiItem],
    decisions: Iterable[SelectionDecision],
    annotations: Iterable[Annotation],
) -> AnnotatedItems:
    """Merge the annotations of the picked items, and drop what is then still broken.

    Args:
        items: All items, prepared.
        decisions: Which problems were picked; the others are in that table with their chance.
        annotations: Of any items; of those not picked they are not looked at.
    """
    picked = {one.problem_id for one in decisions if one.picked}
    passed_over = {item.item_id for item in items if item.problem_id not in picked}
    merged = merge(
        [item for item in items if item.problem_id in picked],
        [one for one in annotations if one.item_id not in passed_over],
    )
    faults = {item.item_id: defects(item) for item in merged.items}
    return AnnotatedItems(
        [item for item in merged.items if not faults[item.item_id]],
        merged.revisions,
        merged.rejections
        + [
            Rejection(entry=f"item {name}", reason="; ".join(found))
            for name, found in faults.items()
            if found
        ],
    )


def without_duplicates(items: Iterable[MultiItem], pairs: Iterable[Duplicate]) -> list[MultiItem]:
    """Leave out the items that are nearly the same as an earlier one."""
    dropped = {pair.item_id for pair in pairs if pair.dropped}
    return [item for item in items if item.item_id not in dropped]


def duplicate_rejections(pairs: Iterable[Duplicate]) -> list[Rejection]:
    """Say of each dropped item which one it is nearly the same as; of several, the nearest."""
    nearest = {
        pair.item_id: pair
        for pair in sorted(pairs, key=lambda pair: pair.similarity)
        if pair.dropped
    }
    return [
        Rejection(
            entry=f"item {name}",
            reason=f"nearly the same as {pair.earlier}: {pair.similarity:.2f} of its shingles",
        )
        for name, pair in sorted(nearest.items())
    ]
