"""Annotation tasks: difficulty and near-duplicates (3.2), transformations (Figure 6), knowledge.

``annotation.toml`` has the paper's rules in our words; ``decisions`` applies the answers.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench_assets.annotation.answers.values import answers_by_unit
from bench_assets.annotation.gold import proposal_task
from bench_assets.annotation.task_files import read_tasks
from bench_assets.annotation.tasks import (
    Answer,
    Unit,
    field_value,
    split_unit_id,
    suite_task,
    unit_id,
)
from bench_assets.core.schema.rows import StoredImage
from bench_assets.core.stats.rater_agreement import majority
from bench_assets.suites.multi.construction.decisions import (
    DuplicateDecision,
    ItemRating,
    WrittenPiece,
)
from bench_assets.suites.multi.construction.item_checks import Duplicate
from bench_assets.suites.multi.construction.selection import SelectionDecision
from bench_assets.suites.multi.construction.transformations import TRANSFORMED
from bench_assets.suites.multi.dataset.questions import UNCOVERED, KnowledgeLink
from bench_assets.suites.multi.dataset.source import MultiItem

_TASKS = read_tasks(Path(__file__).parents[1] / "annotation.toml")
_DROP_BY_CHOICE = dict(
    zip(_TASKS["duplicate_conflicts"].fields[0].choices, ("", "later", "earlier"), strict=True)
)


def _difficulty_units(
    items: Sequence[MultiItem],
    selection: Sequence[SelectionDecision],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Make a unit of each item of the picked problems."""
    picked = {decision.problem_id for decision in selection if decision.picked}
    digests = _digests(images)
    return [
        Unit(
            task=_TASKS["difficulty"].name,
            unit_id=item.item_id,
            shown={**_shown_fields(item), "Level": item.education},
            images=_labelled_images(item, digests),
        )
        for item in items
        if item.problem_id in picked
    ]


def _to_ratings(answers: Sequence[Answer]) -> list[ItemRating]:
    return [
        ItemRating(
            item_id=answer.unit_id,
            person=answer.person,
            difficulty=int(field_value(answer, "difficulty")),
            quality=int(field_value(answer, "quality")),
        )
        for answer in answers
    ]


def _knowledge_units(
    links: Sequence[KnowledgeLink], items: Sequence[MultiItem], images: Sequence[StoredImage]
) -> list[Unit]:
    """Make a unit of each item without a knowledge piece."""
    uncovered = {link.item_id for link in links if link.how == UNCOVERED}
    digests = _digests(images)
    return [
        Unit(
            task=_TASKS["knowledge"].name,
            unit_id=item.item_id,
            shown=_shown_fields(item),
            images=_labelled_images(item, digests),
        )
        for item in items
        if item.item_id in uncovered
    ]


def _to_pieces(answers: Sequence[Answer]) -> list[WrittenPiece]:
    return [
        WrittenPiece(
            item_id=answer.unit_id,
            person=answer.person,
            name=" ".join(field_value(answer, "name").split()),
            content=field_value(answer, "knowledge"),
        )
        for answer in answers
    ]


def _duplicate_units(
    pairs: Sequence[Duplicate], items: Sequence[MultiItem], images: Sequence[StoredImage]
) -> list[Unit]:
    """Make a unit of each conflicting pair of items."""
    by_id = {item.item_id: item for item in items}
    digests = _digests(images)
    units = []
    for pair in pairs:
        later, earlier = by_id.get(pair.item_id), by_id.get(pair.earlier)
        if not pair.conflict or later is None or earlier is None:
            continue
        shown = _shown_fields(earlier, " (earlier)") | _shown_fields(later, " (later)")
        shown["What speaks against their being one"] = pair.conflict
        unit = Unit(
            task=_TASKS["duplicate_conflicts"].name,
            unit_id=unit_id(pair.item_id, pair.earlier),
            shown=shown,
            images=_labelled_images(earlier, digests, " (earlier)")
            | _labelled_images(later, digests, " (later)"),
        )
        units.append(unit)
    return units


def _to_duplicate_decisions(answers: Sequence[Answer]) -> list[DuplicateDecision]:
    """Take the most frequent decision on each pair; after a tie both items stay."""
    decisions = []
    for pair_id, unit_answers in answers_by_unit(answers).items():
        later, earlier = split_unit_id(pair_id)
        choice = majority(field_value(answer, "decision") for answer in unit_answers)
        if choice:
            drop = _DROP_BY_CHOICE[choice]
            decisions.append(DuplicateDecision(item_id=later, earlier=earlier, drop=drop))
    return decisions


def _shown_fields(item: MultiItem, suffix: str = "") -> dict[str, str]:
    return {f"Question{suffix}": item.text, f"Answer{suffix}": item.answer}


def _digests(images: Sequence[StoredImage]) -> dict[str, str]:
    return {image.name: image.sha256 for image in images}


def _labelled_images(
    item: MultiItem, digests: Mapping[str, str], suffix: str = ""
) -> dict[str, str]:
    """Digests of the stored images of an item, by label."""
    return {
        f"[IMAGE_{number}]{suffix}": digests[name]
        for number, name in enumerate(item.images, 1)
        if name in digests
    }


DIFFICULTY = suite_task(_TASKS["difficulty"], _difficulty_units, _to_ratings)
KNOWLEDGE = suite_task(
    _TASKS["knowledge"],
    _knowledge_units,
    _to_pieces,
    links="with_knowledge/knowledge_links",
    items="transformed_items",
)
DUPLICATE_CONFLICTS = suite_task(
    _TASKS["duplicate_conflicts"],
    _duplicate_units,
    _to_duplicate_decisions,
    pairs="duplicates",
    items="transformed_items",
)
ANNOTATION_TASKS = (DIFFICULTY, proposal_task(TRANSFORMED), KNOWLEDGE, DUPLICATE_CONFLICTS)
