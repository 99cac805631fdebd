"""Annotation tasks: difficulty and near-duplicates (3.2), transformations (Figure 6), knowledge.

``annotation.toml`` has the paper's rules in our words; ``decisions`` applies the answers.
"""

from collections.abc import Sequence
from pathlib import Path

from bench_assets.annotation.answers.values import answers_by_unit
from bench_assets.annotation.task_files import read_tasks
from bench_assets.annotation.tasks import (
    Answer,
    SourceTable,
    SuiteAnnotationTask,
    Unit,
    split_unit_id,
    unit_id,
    word,
)
from bench_assets.core.schema.rows import StoredImage
from bench_assets.core.stats.rater_agreement import majority
from bench_assets.suites.multi.construction.decisions import (
    Annotation,
    DuplicateDecision,
    ItemRating,
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
    select_unproven,
)
from bench_assets.suites.multi.dataset.questions import UNCOVERED, KnowledgeLink
from bench_assets.suites.multi.dataset.source import MultiItem as Raw

_SEMANTICS = 2  # the annotation round that transformations belong to
_FILE = read_tasks(Path(__file__).parents[1] / "annotation.toml")
_TASKS, CODE_BOOK = _FILE.tasks, _FILE.code_book
_REQUEST_BY_CHOICE = dict(
    zip(
        _TASKS["transformation_review"].fields[0].choices,
        (
            *("", ACCEPT, BY_HAND, "distill", "deepen"),
            *("choose_elements", "split_blanks", "negate", "to_blank"),
        ),
        strict=True,
    )
)
_DROP_BY_CHOICE = dict(
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
            shown={**_shown_fields(one, ""), "Level": one.education},
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
    for row in select_unproven(confirm(proposals, solver_answers, solvers)):
        waiting.setdefault(row.item_id, []).append(row)
    return [
        Unit(
            task=_TASKS["transformation_review"].name,
            unit_id=one.item_id,
            shown={**_shown_fields(one, ""), **_proposal_fields(waiting[one.item_id])},
            images=_images(one, images, ""),
        )
        for one in items
        if one.item_id in waiting
    ]


def _proposal_fields(rows: Sequence[Transformation]) -> dict[str, str]:
    return {
        f"Proposal {number} ({row.name})": f"{row.general}\n{row.specific}\n\n{row.answer}".strip()
        for number, row in enumerate(rows, 1)
    }


def _annotations(answers: Sequence[Answer]) -> list[Annotation]:
    """Convert the first annotator's answer on each item."""
    return [_annotation(unit_answers[0]) for unit_answers in answers_by_unit(answers).values()]


def _annotation(answer: Answer) -> Annotation:
    request = _REQUEST_BY_CHOICE.get(word(answer, "how"), "")
    written = {
        "specific": word(answer, "question"),
        "type": word(answer, "type"),
        "answer": word(answer, "right"),
    }
    wish = {"name": request, "words": word(answer, "words"), "instead": word(answer, "instead")}
    return Annotation(
        item_id=answer.unit_id,
        round=_SEMANTICS,
        annotator=answer.person,
        changes={k: text for k, text in written.items() if text} if request == BY_HAND else {},
        transform={} if request in ("", BY_HAND) else wish,
    )


def _knowledge_units(
    links: Sequence[KnowledgeLink], items: Sequence[Raw], images: Sequence[StoredImage]
) -> list[Unit]:
    uncovered = {link.item_id for link in links if link.how == UNCOVERED}
    return [
        Unit(
            task=_TASKS["knowledge"].name,
            unit_id=one.item_id,
            shown=_shown_fields(one, ""),
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


def _duplicate_units(
    pairs: Sequence[Duplicate], items: Sequence[Raw], images: Sequence[StoredImage]
) -> list[Unit]:
    by_id = {one.item_id: one for one in items}
    return [
        Unit(
            task=_TASKS["duplicate_conflicts"].name,
            unit_id=unit_id(pair.item_id, pair.earlier),
            shown={
                **_shown_fields(earlier, " (earlier)"),
                **_shown_fields(later, " (later)"),
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


def _duplicate_decisions(answers: Sequence[Answer]) -> list[DuplicateDecision]:
    """Take the most frequent decision on each pair; after a tie both items stay."""
    found = []
    for name, unit_answers in answers_by_unit(answers).items():
        later, earlier = split_unit_id(name)
        decision = majority(word(answer, "decision") for answer in unit_answers)
        if decision:
            found.append(
                DuplicateDecision(item_id=later, earlier=earlier, drop=_DROP_BY_CHOICE[decision])
            )
    return found


def _shown_fields(one: Raw, which: str) -> dict[str, str]:
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
        "items": SourceTable("multi/items", Raw),
        "selection": SourceTable("multi/selection", SelectionDecision),
        "images": SourceTable("multi/images", StoredImage),
    },
    units=_difficulty_units,
    row=ItemRating,
    to_rows=_ratings,
)

TRANSFORMATION_REVIEW = SuiteAnnotationTask(
    task=_TASKS["transformation_review"],
    reads={
        "proposals": SourceTable("multi/transformation_proposals", Transformation),
        "solver_answers": SourceTable("multi/solver_answers", SolverAnswer),
        "items": SourceTable("multi/annotated_items", Raw),
        "images": SourceTable("multi/images", StoredImage),
    },
    units=_transformation_units,
    row=Annotation,
    to_rows=_annotations,
)

KNOWLEDGE = SuiteAnnotationTask(
    task=_TASKS["knowledge"],
    reads={
        "links": SourceTable("multi/with_knowledge/knowledge_links", KnowledgeLink),
        "items": SourceTable("multi/transformed_items", Raw),
        "images": SourceTable("multi/images", StoredImage),
    },
    units=_knowledge_units,
    row=WrittenPiece,
    to_rows=_pieces,
)

DUPLICATE_CONFLICTS = SuiteAnnotationTask(
    task=_TASKS["duplicate_conflicts"],
    reads={
        "pairs": SourceTable("multi/duplicates", Duplicate),
        "items": SourceTable("multi/transformed_items", Raw),
        "images": SourceTable("multi/images", StoredImage),
    },
    units=_duplicate_units,
    row=DuplicateDecision,
    to_rows=_duplicate_decisions,
)

ANNOTATION_TASKS = (DIFFICULTY, TRANSFORMATION_REVIEW, KNOWLEDGE, DUPLICATE_CONFLICTS)
