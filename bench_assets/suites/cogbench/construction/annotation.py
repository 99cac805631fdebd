"""Annotation tasks: annotate images (Figure 6) and review merged items (section 2.2, appendix A).

Written questions are reviewed by ``vqa.annotation``. ``annotation.toml`` has the paper's rules in
our words.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from bench_assets.annotation.answers.values import answers_by_unit, entries
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
from bench_assets.suites.cogbench.construction.annotation_files import (
    DESCRIPTION,
    ENTITIES,
    AnnotatedItem,
    Review,
)
from bench_assets.suites.cogbench.construction.merging import MergedItem
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import RawAnnotation

_ANNOTATORS = 3  # of each image (section 2.2)
_IN_BRACKETS = re.compile(r"(?:\[[^\[\]]*\]\s*)+")  # one or more chains, as in Figure 6

_TASKS = read_tasks(Path(__file__).parents[1] / "annotation.toml").tasks
_KEEP, _DROP = _TASKS["merge_review"].fields[0].choices
_SAME = "the same as: "


def annotation_units(images: Sequence[StoredImage]) -> list[Unit]:
    """Make one unit per image, for three annotators."""
    return [
        Unit(
            task=_TASKS["annotation"].name,
            unit_id=image.name,
            images={"Image": image.sha256},
            needed=_ANNOTATORS,
        )
        for image in images
    ]


def raw_annotations(answers: Sequence[Answer]) -> list[RawAnnotation]:
    """Write answers in the form of Figure 6, for ``annotation_files.read_annotations``.

    Each section is one line, so that no text starts a section. Entities are separated by commas;
    square brackets inside a chain become round ones.
    """
    return [
        RawAnnotation(
            image=answer.unit_id,
            annotator=answer.person,
            annotation="\n".join(f"[{name}]: {text}" for name, text in _sections(answer).items()),
        )
        for answer in answers
    ]


def merge_review_units(
    to_review: Sequence[MergedItem],
    annotations: Sequence[AnnotatedItem],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Make units of waiting items, each with its nearest items and without annotators' names."""
    digests = {image.name: image.sha256 for image in images}
    return [
        Unit(
            task=_TASKS["merge_review"].name,
            unit_id=unit_id(review.image, review.field, review.text),
            shown={
                "Section": review.field,
                "One annotator wrote": review.text,
                **_others(near_texts),
            },
            images={"Image": digests[review.image]},
            choices={"decision": (_KEEP, _DROP, *(_SAME + text for text in mergeable))},
        )
        for review in to_review
        if review.image in digests
        for near_texts in [_near_texts(review, annotations)]
        for mergeable in [
            () if review.field == DESCRIPTION else near_texts
        ]  # descriptions are not merged
    ]


def reviews(answers: Sequence[Answer]) -> list[Review]:
    """Aggregate answers by majority; an item with a tie still waits."""
    found = []
    for name, unit_answers in answers_by_unit(answers).items():
        image, field, text = split_unit_id(name)
        decision = majority(field_value(answer, "decision") for answer in unit_answers)
        if decision:
            same_as = decision.removeprefix(_SAME) if decision.startswith(_SAME) else ""
            accept = None if same_as else decision == _KEEP
            found.append(
                Review(image=image, field=field, text=text, accept=accept, same_as=same_as)
            )
    return found


def _sections(answer: Answer) -> dict[str, str]:
    chains = {
        kind.field: " ".join(map(_bracket_chain, entries(answer, kind.code))) for kind in KINDS
    }
    entities = ", ".join(entity.strip("[]") for entity in entries(answer, "entities"))
    description = " ".join(field_value(answer, "description").split())
    return {
        ENTITIES: f"[{entities}]",
        **{k: text or "None" for k, text in chains.items()},
        DESCRIPTION: description,
    }


def _bracket_chain(chain: str) -> str:
    if _IN_BRACKETS.fullmatch(chain):
        return chain
    return f"[{chain.replace('[', '(').replace(']', ')')}]"


def _others(texts: Sequence[str]) -> dict[str, str]:
    return {f"Another one wrote ({number})": text for number, text in enumerate(texts, 1)}


def _near_texts(one: MergedItem, annotations: Sequence[AnnotatedItem]) -> tuple[str, ...]:
    """Nearest items as annotated; the queue adds cosines and reasons to their texts."""
    if one.field == DESCRIPTION:
        return tuple(dict.fromkeys(one.near))
    field_of_image = one.image, one.field
    texts = {
        annotation.text
        for annotation in annotations
        if (annotation.image, annotation.field) == field_of_image
    }
    longest_first = sorted(texts, key=lambda text: (-len(text), text))
    stripped = [entry.partition(" ")[2] for entry in one.near]
    texts_found = [
        next((text for text in longest_first if f"{entry} (".startswith(f"{text} (")), "")
        for entry in stripped
    ]
    return tuple(dict.fromkeys(text for text in texts_found if text))


ANNOTATION = suite_task(_TASKS["annotation"], annotation_units, raw_annotations)
MERGE_REVIEW = suite_task(_TASKS["merge_review"], merge_review_units, reviews)
