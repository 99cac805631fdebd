"""The steps of the built route that look at several tables at once."""

from collections.abc import Iterable, Sequence

from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.multi.construction.annotation_merging import (
    AnnotatedItems,
    Annotation,
    merge,
)
from bench_assets.suites.multi.construction.defects import defects
from bench_assets.suites.multi.construction.near_duplicates import Duplicate
from bench_assets.suites.multi.construction.selection import SelectionDecision
from bench_assets.suites.multi.dataset.source import MultiItem


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
