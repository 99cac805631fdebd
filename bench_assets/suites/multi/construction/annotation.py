"""Annotation forms: transformations (Figure 6), knowledge (section 3.4), near-duplicates (3.2).

The instructions are the paper's rules in our words; ``decisions`` applies the answers.
"""

from collections.abc import Mapping, Sequence

from bench_assets.annotation.answers.values import by_unit, most_said, word
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    Field,
    SuiteAnnotationTask,
    TableOf,
    Unit,
    parts_of,
    unit_id,
)
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.multi.construction.decisions import (
    Annotation,
    TwinDecision,
    WrittenPiece,
)
from bench_assets.suites.multi.construction.item_checks import Duplicate
from bench_assets.suites.multi.construction.transformations import (
    ACCEPT,
    BY_HAND,
    SolverAnswer,
    Transformation,
    confirm,
    unproven,
)
from bench_assets.suites.multi.dataset.questions import UNCOVERED, KnowledgeLink
from bench_assets.suites.multi.dataset.source import TYPES
from bench_assets.suites.multi.dataset.source import MultiItem as Raw

_SEMANTICS = 2  # the round of annotation that transformations belong to
_LEAVE = "leave it as it is"
_HOW: Mapping[str, str] = {
    "apply the proposal": ACCEPT,
    "write it anew, below": BY_HAND,
    "distill: take away words that give the answer away": "distill",
    "deepen: a property in the place of a value or name": "deepen",
    "its elements as options, several right": "choose_elements",
    "each blank a question of its own": "split_blanks",
    "ask for what is wrong": "negate",
    "ask without the options": "to_blank",
}
_DROPS: Mapping[str, str] = {
    "they are two questions: keep both": "",
    "they are one: drop the later": "later",
    "they are one: drop the earlier": "earlier",
}

_TRANSFORM = AnnotationTask(
    name="multi/transformation_review",
    title="Can the question be made harder?",
    about="section 3.2, Figure 6",
    instructions=(
        "A rule or a model proposes to transform this question; nothing proves its new answer yet."
        " Choose what is to be done. Distilling and deepening replace words that stand in the"
        " question exactly once. Whatever is done, exactly one answer must stay right, it must need"
        " no less thought than before, and nothing that is needed to answer may be lost."
    ),
    fields=(
        Field(name="how", kind="choice", label="What is to be done?", choices=(_LEAVE, *_HOW)),
        Field(name="words", kind="text", label="Words to be replaced", required=False),
        Field(name="instead", kind="text", label="Words in their place", required=False),
        Field(name="question", kind="text", label="The new question", required=False, most=10_000),
        Field(
            name="type",
            kind="choice",
            label="Its type",
            choices=tuple(TYPES.values()),
            required=False,
        ),
        Field(name="right", kind="text", label="Its answer", required=False),
    ),
)

_KNOWLEDGE = AnnotationTask(
    name="multi/knowledge",
    title="What must one know to answer?",
    about="section 3.4",
    instructions=(
        "No piece of knowledge belongs to this question yet. Write what a textbook has under one"
        " heading that somebody needs to answer it: facts and rules that are true of all such"
        " questions, never the answer itself. Search engines and language models may help; look"
        " up that it is right before you send it."
    ),
    fields=(
        Field(name="name", kind="text", label="The heading", most=100),
        Field(name="knowledge", kind="text", label="The piece of knowledge", most=10_000),
    ),
)

_TWINS = AnnotationTask(
    name="multi/duplicate_conflicts",
    title="One question or two?",
    about="section 3.2, removal of similar questions",
    instructions=(
        "The two look alike; what speaks against it stands below them. They are one question if"
        " whoever can answer one can answer the other by the same thought, and only the wording or"
        " the order of options differs. If they are one and their answers contradict each other,"
        " drop the one whose answer is wrong."
    ),
    fields=(Field(name="decision", kind="choice", label="What are they?", choices=tuple(_DROPS)),),
)


def _transformation_units(
    proposals: Sequence[Transformation],
    solver_answers: Sequence[SolverAnswer],
    items: Sequence[Raw],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Make one unit an item whose proposal neither a rule nor the solvers confirm."""
    solvers = sorted({answer.solver for answer in solver_answers})
    waiting: dict[str, list[Transformation]] = {}
    for row in unproven(confirm(proposals, solver_answers, solvers)):
        waiting.setdefault(row.item_id, []).append(row)
    return [
        Unit(
            task=_TRANSFORM.name,
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
    """The first annotator's answer on each item."""
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
            task=_KNOWLEDGE.name,
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
            task=_TWINS.name,
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
    """The majority's decision on each pair; tied pairs both stay."""
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


TRANSFORMATION_REVIEW = SuiteAnnotationTask(
    task=_TRANSFORM,
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
    task=_KNOWLEDGE,
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
    task=_TWINS,
    reads={
        "pairs": TableOf("multi/duplicates", Duplicate),
        "items": TableOf("multi/transformed_items", Raw),
        "images": TableOf("multi/images", StoredImage),
    },
    units=_twin_items,
    row=TwinDecision,
    to_rows=_duplicate_decisions,
)

ANNOTATION_TASKS = (TRANSFORMATION_REVIEW, KNOWLEDGE, DUPLICATE_CONFLICTS)
