"""Annotators' changes and decisions, applied to items (section 3.2, data annotation).

``annotations.json`` is a list of ``{item, round, annotator}`` with any of ``difficulty`` and
``quality`` (integers), ``changes`` (field of the item -> new text), ``drop`` (the reason) and
``transform`` (a requested transformation). An item has at most one annotation per round.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from statistics import median_low
from typing import Any, NamedTuple

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, make_rows, read_entries, require_field
from bench_assets.suites.multi.construction.item_checks import Duplicate, defects
from bench_assets.suites.multi.construction.selection import SelectionDecision
from bench_assets.suites.multi.dataset.questions import WRITTEN, KnowledgeLink
from bench_assets.suites.multi.dataset.source import TYPES, Knowledge, MultiItem

ROUNDS = (1, 2)
"""Format, content and labels in the first round; semantics and enhancement in the second."""

# Fields that an annotator may change.
EDITABLE_FIELDS = ("general", "specific", "type", "answer", "analysis", "education", "subject")


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """An annotator's changes to an item in one round."""

    item_id: str
    round: int
    annotator: str
    difficulty: str = ""  # a number; "" for no change
    quality: str = ""
    changes: Mapping[str, str] = field(default_factory=dict)
    drop: str = ""  # reason to drop the item; "" to keep it
    transform: Mapping[str, str] = field(default_factory=dict)  # its `name` and arguments


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRating:
    """An annotator's rating of an item's difficulty and quality, from 1 to 5."""

    item_id: str
    person: str
    difficulty: int
    quality: int


def read_annotations(file: Path) -> Table[Annotation]:
    """Read annotations in file order; invalid ones, and an item's second in a round, are rejected.

    Raises:
        SourceError: If the file is not a JSON list in UTF-8.
    """
    seen = set[tuple[str, int]]()

    def unique_annotation(entry: Entry, where: str) -> Annotation:
        annotation = _annotation(entry, where)
        key = annotation.item_id, annotation.round
        if key in seen:
            item_id, round_ = key
            raise SourceError(
                f"{where}: {item_id} has two annotations in round {round_}. Remove one of them"
            )
        seen.add(key)
        return annotation

    return make_rows(read_entries(file), unique_annotation)


def merge_annotations(
    items: Sequence[MultiItem], annotations: Iterable[Annotation]
) -> Table[MultiItem]:
    """Apply the first round to every item, and the second to the result.

    Items that either round drops, and annotations of unknown items, become rejections.
    """
    by_round = {(annotation.item_id, annotation.round): annotation for annotation in annotations}
    item_ids = {item.item_id for item in items}
    merged = Table[MultiItem]()
    for item_id, round_ in by_round:
        if item_id not in item_ids:
            merged.reject(f"item {item_id}", f"annotated in round {round_}: no such item")
    for item in items:
        rounds = [by_round[item.item_id, n] for n in ROUNDS if (item.item_id, n) in by_round]
        drop = next((annotation for annotation in rounds if annotation.drop), None)
        if drop:
            reason = f"{drop.annotator} dropped it in round {drop.round}: {drop.drop}"
            merged.reject(f"item {item.item_id}", reason)
        else:
            merged.rows.append(reduce(_apply_changes, rounds, item))
    return merged


def add_ratings(
    annotations: Sequence[Annotation], ratings: Iterable[ItemRating]
) -> list[Annotation]:
    """Put the lower median of each item's ratings into its first-round annotation, or a new one."""
    by_item: dict[str, list[ItemRating]] = {}
    for rating in ratings:
        by_item.setdefault(rating.item_id, []).append(rating)
    by_round = {(annotation.item_id, annotation.round): annotation for annotation in annotations}
    for item_id, item_ratings in by_item.items():
        people = "+".join(sorted({rating.person for rating in item_ratings}))
        key = item_id, ROUNDS[0]
        default = Annotation(item_id=item_id, round=ROUNDS[0], annotator=people)
        by_round[key] = replace(
            by_round.get(key, default),
            difficulty=str(median_low(rating.difficulty for rating in item_ratings)),
            quality=str(median_low(rating.quality for rating in item_ratings)),
        )
    return list(by_round.values())


def requested_transformations(annotations: Iterable[Annotation]) -> dict[str, Mapping[str, str]]:
    """Return the requested transformations by item; the later round wins."""
    by_round = sorted(annotations, key=lambda annotation: annotation.round)
    return {
        annotation.item_id: annotation.transform for annotation in by_round if annotation.transform
    }


def _annotation(entry: Entry, where: str) -> Annotation:
    """Make an annotation of an entry. Raises SourceError if a field is invalid."""
    changes, transform = _texts(entry, "changes", where), _texts(entry, "transform", where)
    unknown = sorted(set(changes) - set(EDITABLE_FIELDS))
    if unknown:
        raise SourceError(f"{where}: cannot change {unknown}; only {', '.join(EDITABLE_FIELDS)}")
    if "type" in changes and changes["type"] not in TYPES.values():
        known = ", ".join(TYPES.values())
        raise SourceError(f"{where}: unknown type {changes['type']!r}; known: {known}")
    if transform and "name" not in transform:
        raise SourceError(f"{where}: field 'transform' has no 'name'")
    round_ = require_field(entry, "round", int, where)
    if round_ not in ROUNDS:
        raise SourceError(f"{where}: round {round_}, expected one of {ROUNDS}")
    return Annotation(
        item_id=require_field(entry, "item", str, where),
        round=round_,
        annotator=require_field(entry, "annotator", str, where),
        difficulty=_number(entry, "difficulty", where),
        quality=_number(entry, "quality", where),
        changes=changes,
        drop=require_field({"drop": "", **entry}, "drop", str, where),
        transform=transform,
    )


def _texts(entry: Entry, name: str, where: str) -> dict[str, str]:
    """Read a field with an object of texts; empty without the field."""
    fields = require_field({name: {}, **entry}, name, dict, where)
    return {key: require_field(fields, key, str, where) for key in fields}


def _number(entry: Entry, name: str, where: str) -> str:
    """Read an integer as text; "" without the field."""
    return str(require_field(entry, name, int, where)) if name in entry else ""


def _apply_changes(item: MultiItem, annotation: Annotation) -> MultiItem:
    changes: dict[str, Any] = dict(annotation.changes)
    if annotation.difficulty:
        changes["difficulty"] = annotation.difficulty
    if annotation.quality:
        changes["quality"] = annotation.quality
    return replace(item, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPiece:
    """A knowledge piece by one annotator for one item (section 3.4)."""

    item_id: str
    person: str
    name: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateDecision:
    """The decision on two similar items that conflict."""

    item_id: str  # the later one
    earlier: str
    drop: str  # "later", "earlier", or "" to keep both


class KnowledgeLinks(NamedTuple):
    """Links from items to knowledge pieces, and the pieces by name."""

    links: list[KnowledgeLink]
    pieces: dict[str, Knowledge]


def add_written_pieces(
    links: Iterable[KnowledgeLink], pieces: Mapping[str, Knowledge], written: Iterable[WrittenPiece]
) -> KnowledgeLinks:
    """Link written pieces to items without one; the first of several for an item counts.

    If a piece with another text has the name already, the item's id is appended to it.
    """
    first_pieces: dict[str, WrittenPiece] = {}
    for written_piece in written:
        first_pieces.setdefault(written_piece.item_id, written_piece)
    linked = KnowledgeLinks([], dict(pieces))
    for link in links:
        piece = None if link.knowledge else first_pieces.get(link.item_id)
        if piece is None:
            linked.links.append(link)
            continue
        existing = linked.pieces.get(piece.name)
        is_taken = existing is not None and existing.content != piece.content
        name = f"{piece.name} ({link.item_id})" if is_taken else piece.name
        linked.pieces.setdefault(name, Knowledge(name=name, content=piece.content))
        linked.links.append(replace(link, knowledge=name, how=WRITTEN))
    return linked


def apply_decisions(
    pairs: Sequence[Duplicate], decisions: Iterable[DuplicateDecision]
) -> list[Duplicate]:
    """Apply decisions to conflicting pairs; other pairs stay as found."""
    drops = {(decision.item_id, decision.earlier): decision.drop for decision in decisions}
    return [_apply_decision(pair, drops.get((pair.item_id, pair.earlier), "")) for pair in pairs]


def _apply_decision(pair: Duplicate, drop: str) -> Duplicate:
    """Resolve a conflict by dropping an item; if it is the earlier one, the pair is swapped."""
    if not pair.conflict or not drop:
        return pair
    resolved = replace(pair, conflict="", dropped=True)
    if drop == "later":
        return resolved
    return replace(resolved, item_id=pair.earlier, earlier=pair.item_id)


def annotate(
    items: Sequence[MultiItem],
    decisions: Iterable[SelectionDecision],
    annotations: Iterable[Annotation],
) -> Table[MultiItem]:
    """Merge the annotations of picked items, and reject items that are then defective."""
    picked = {decision.problem_id for decision in decisions if decision.picked}
    unpicked_ids = {item.item_id for item in items if item.problem_id not in picked}
    merged = merge_annotations(
        [item for item in items if item.problem_id in picked],
        [annotation for annotation in annotations if annotation.item_id not in unpicked_ids],
    )
    sound = Table[MultiItem](rejections=merged.rejections)
    for item in merged.rows:
        item_defects = defects(item)
        if item_defects:
            sound.reject(f"item {item.item_id}", "; ".join(item_defects))
        else:
            sound.rows.append(item)
    return sound


def drop_duplicates(items: Iterable[MultiItem], pairs: Iterable[Duplicate]) -> list[MultiItem]:
    """Leave out dropped near-duplicates."""
    dropped = {pair.item_id for pair in pairs if pair.dropped}
    return [item for item in items if item.item_id not in dropped]


def duplicate_rejections(pairs: Iterable[Duplicate]) -> list[Rejection]:
    """Make a rejection of each dropped near-duplicate, with the most similar item."""
    most_similar: dict[str, Duplicate] = {}
    for pair in sorted(pairs, key=lambda pair: pair.similarity):
        if pair.dropped:
            most_similar[pair.item_id] = pair
    return [
        Rejection(
            entry=f"item {item_id}",
            reason=f"nearly the same as {pair.earlier}: {pair.similarity:.2f} of its shingles",
        )
        for item_id, pair in sorted(most_similar.items())
    ]
