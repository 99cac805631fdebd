"""Annotation tasks: difficulty and near-duplicates (3.2), transformations (Figure 6), knowledge.

``annotation.toml`` has the paper's rules in our words; ``decisions`` applies the answers.
"""

from collections.abc import Sequence
from pathlib import Path

from bench_assets.annotation.answers.values import by_unit, most_said, word
from bench_assets.annotation.task_files import read_tasks
from bench_assets.annotation.tasks import (
    Answer,
    SuiteAnnotationTask,
    TableOf,
    Unit,
    parts_of,
    unit_id,
)
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.multi.construction.decisions import (
    Annotation,
    ItemRating,
    TwinDecision,
    WrittenPiece,
)
from bench_assets.suites.multi.construction.item_checks import Duplicate
from bench_assets.suites.multi.construction.selection import SelectionDecision
from bench_assets.suites.multi.construction.transformations import (
    ACCEPT,
    BY_HAND,
    SolverAnswer,
    Transformation,
    confirm,
    unproven,
)
from bench_assets.suites.multi.dataset.questions import UNCOVERED, KnowledgeLink
from bench_assets.suites.multi.dataset.source import MultiItem as Raw

_SEMANTICS = 2  # the annotation round that transformations belong to
_FILE = read_tasks(Path(__file__).parents[1] / "annotation.toml")
_TASKS, CODE_BOOK = _FILE.tasks, _FILE.code_book
_HOW = dict(
    zip(
        _TASKS["transformation_review"].fields[0].choices,
        (
            *("", ACCEPT, BY_HAND, "distill", "deepen"),
            *("choose_elements", "split_blanks", "negate", "to_blank"),
        ),
        strict=True,
    )
)
_DROPS = dict(
    zip(_TASKS["duplicate_conflicts"].fields[0].choices, ("", "later", "earlier"), strict=True)
)


def _difficulty_units(
    items: Sequence[Raw], selection: Sequence[SelectionDecision], images: Sequence[StoredImage]
) -> list[Unit]:
    """Make a unit of each item of the picked problems, before annotation."""
    picked = {one.problem_id for one in selection if one.picked}
    return [
        Unit(
            task=_TASKS["difficulty"].name,
            unit_id=one.item_id,
            shown={**_shown(one, ""), "Level": one.education},
            images=_images(one, images, ""),
        )
        for one in items
        if one.problem_id in picked
    ]


def _ratings(answers: Sequence[Answer]) -> list[ItemRating]:
    return [
        ItemRating(
            item_id=answer.unit_id,
            person=answer.person,
            difficulty=int(word(answer, "difficulty")),
            quality=int(word(answer, "quality")),
        )
        for answer in answers
    ]


def _transformation_units(
    proposals: Sequence[Transformation],
    solver_answers: Sequence[SolverAnswer],
    items: Sequence[Raw],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Make a unit of each item with proposals that neither a rule nor the solvers confirm."""
    solvers = sorted({answer.solver for answer in solver_answers})
    waiting: dict[str, list[Transformation]] = {}
    for row in unproven(confirm(proposals, solver_answers, solvers)):
        waiting.setdefault(row.item_id, []).append(row)
    return [
        Unit(
            task=_TASKS["transformation_review"].name,
            unit_id=one.item_id,
            shown={**_shown(one, ""), **_proposed(waiting[one.item_id])},
            images=_images(one, images, ""),
        )
        for one in items
        if one.item_id in waiting
    ]


def _proposed(rows: Sequence[Transformation]) -> dict[str, str]:
    return {
        f"Proposal {number} ({row.name})": f"{row.general}\n{row.specific}\n\n{row.answer}".strip()
        for number, row in enumerate(rows, 1)
    }


def _annotations(answers: Sequence[Answer]) -> list[Annotation]:
    """Convert the first annotator's answer on each item."""
    return [_annotation(about[0]) for about in by_unit(answers).values()]


def _annotation(answer: Answer) -> Annotation:
    how = _HOW.get(word(answer, "how"), "")
    written = {
        "specific": word(answer, "question"),
        "type": word(answer, "type"),
        "answer": word(answer, "right"),
    }
    wish = {"name": how, "words": word(answer, "words"), "instead": word(answer, "instead")}
    return Annotation(
        item_id=answer.unit_id,
        round=_SEMANTICS,
        annotator=answer.person,
        changes={k: text for k, text in written.items() if text} if how == BY_HAND else {},
        transform={} if how in ("", BY_HAND) else wish,
    )


def _knowledge_items(
    links: Sequence[KnowledgeLink], items: Sequence[Raw], images: Sequence[StoredImage]
) -> list[Unit]:
    uncovered = {link.item_id for link in links if link.how == UNCOVERED}
    return [
        Unit(
            task=_TASKS["knowledge"].name,
            unit_id=one.item_id,
            shown=_shown(one, ""),
            images=_images(one, images, ""),
        )
        for one in items
        if one.item_id in uncovered
    ]


def _pieces(answers: Sequence[Answer]) -> list[WrittenPiece]:
    return [
        WrittenPiece(
            item_id=answer.unit_id,
            person=answer.person,
            name=" ".join(word(answer, "name").split()),
            content=word(answer, "knowledge"),
        )
        for answer in answers
    ]


def _twin_items(
    pairs: Sequence[Duplicate], items: Sequence[Raw], images: Sequence[StoredImage]
) -> list[Unit]:
    by_id = {one.item_id: one for one in items}
    return [
        Unit(
            task=_TASKS["duplicate_conflicts"].name,
            unit_id=unit_id(pair.item_id, pair.earlier),
            shown={
                **_shown(earlier, " (earlier)"),
                **_shown(later, " (later)"),
                "What speaks against their being one": pair.conflict,
            },
            images={
                **_images(earlier, images, " (earlier)"),
                **_images(later, images, " (later)"),
            },
        )
        for pair in pairs
        if pair.conflict and {pair.item_id, pair.earlier} <= by_id.keys()
        for later, earlier in [(by_id[pair.item_id], by_id[pair.earlier])]
    ]


def _duplicate_decisions(answers: Sequence[Answer]) -> list[TwinDecision]:
    """Take the most frequent decision on each pair; after a tie both items stay."""
    found = []
    for name, about in by_unit(answers).items():
        later, earlier = parts_of(name)
        decision = most_said([word(answer, "decision") for answer in about])
        if decision:
            found.append(TwinDecision(item_id=later, earlier=earlier, drop=_DROPS[decision]))
    return found


def _shown(one: Raw, which: str) -> dict[str, str]:
    return {f"Question{which}": one.text, f"Answer{which}": one.answer}


def _images(one: Raw, images: Sequence[StoredImage], which: str) -> dict[str, str]:
    known = {image.name: image.sha256 for image in images}
    return {
        f"[IMAGE_{number}]{which}": known[name]
        for number, name in enumerate(one.images, 1)
        if name in known
    }


DIFFICULTY = SuiteAnnotationTask(
    task=_TASKS["difficulty"],
    reads={
        "items": TableOf("multi/items", Raw),
        "selection": TableOf("multi/selection", SelectionDecision),
        "images": TableOf("multi/images", StoredImage),
    },
    units=_difficulty_units,
    row=ItemRating,
    to_rows=_ratings,
)

TRANSFORMATION_REVIEW = SuiteAnnotationTask(
    task=_TASKS["transformation_review"],
    reads={
        "proposals": TableOf("multi/transformation_proposals", Transformation),
        "solver_answers": TableOf("multi/solver_answers", SolverAnswer),
        "items": TableOf("multi/annotated_items", Raw),
        "images": TableOf("multi/images", StoredImage),
    },
    units=_transformation_units,
    row=Annotation,
    to_rows=_annotations,
)

KNOWLEDGE = SuiteAnnotationTask(
    task=_TASKS["knowledge"],
    reads={
        "links": TableOf("multi/with_knowledge/knowledge_links", KnowledgeLink),
        "items": TableOf("multi/transformed_items", Raw),
        "images": TableOf("multi/images", StoredImage),
    },
    units=_knowledge_items,
    row=WrittenPiece,
    to_rows=_pieces,
)

DUPLICATE_CONFLICTS = SuiteAnnotationTask(
    task=_TASKS["duplicate_conflicts"],
    reads={
        "pairs": TableOf("multi/duplicates", Duplicate),
        "items": TableOf("multi/transformed_items", Raw),
        "images": TableOf("multi/images", StoredImage),
    },
    units=_twin_items,
    row=TwinDecision,
    to_rows=_duplicate_decisions,
)

ANNOTATION_TASKS = (DIFFICULTY, TRANSFORMATION_REVIEW, KNOWLEDGE, DUPLICATE_CONFLICTS)
