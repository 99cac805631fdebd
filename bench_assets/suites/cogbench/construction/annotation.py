"""Annotation tasks: annotate images (Figure 6) and review merged items (section 2.2, appendix A).

``annotation.toml`` has the paper's rules in our words.
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
    Review,
)
from bench_assets.suites.cogbench.construction.merging import MergedItem
from bench_assets.suites.cogbench.dataset.reasoning import KINDS
from bench_assets.suites.cogbench.dataset.source import RawAnnotation

_ANNOTATORS = 3  # annotators of each image (section 2.2)
_IN_BRACKETS = re.compile(r"(?:\[[^\[\]]*\]\s*)+")  # one or more chains, as in Figure 6

_TASKS = read_tasks(Path(__file__).parents[1] / "annotation.toml")
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


def to_raw_annotations(answers: Sequence[Answer]) -> list[RawAnnotation]:
    """Write answers in the form of Figure 6, for ``annotation_files.parse_annotations``.

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
    to_review: Sequence[MergedItem], images: Sequence[StoredImage]
) -> list[Unit]:
    """Make a unit of each waiting item whose image is stored, without annotators' names."""
    digests = {image.name: image.sha256 for image in images}
    return [
        _merge_review_unit(item, digests[item.image]) for item in to_review if item.image in digests
    ]


def _merge_review_unit(item: MergedItem, image: str) -> Unit:
    """Make the unit of a waiting item with its near items; ``image`` is a digest."""
    near_texts = dict.fromkeys(item.near)
    mergeable = () if item.field == DESCRIPTION else near_texts  # descriptions are not merged
    near_fields = {
        f"Another one wrote ({number})": text for number, text in enumerate(near_texts, 1)
    }
    return Unit(
        task=_TASKS["merge_review"].name,
        unit_id=unit_id(item.image, item.field, item.text),
        shown={"Section": item.field, "One annotator wrote": item.text, **near_fields},
        images={"Image": image},
        choices={"decision": (_KEEP, _DROP, *(_SAME + text for text in mergeable))},
    )


def to_reviews(answers: Sequence[Answer]) -> list[Review]:
    """Aggregate answers by majority; an item with a tie still waits."""
    rows = []
    for name, unit_answers in answers_by_unit(answers).items():
        image, field, text = split_unit_id(name)
        decision = majority(field_value(answer, "decision") for answer in unit_answers)
        if decision:
            same_as = decision.removeprefix(_SAME) if decision.startswith(_SAME) else ""
            accept = None if same_as else decision == _KEEP
            rows.append(Review(image=image, field=field, text=text, accept=accept, same_as=same_as))
    return rows


def _sections(answer: Answer) -> dict[str, str]:
    """The body of each section, in the order of Figure 6."""
    chains = {
        kind.field: " ".join(map(_bracket_chain, entries(answer, kind.code))) for kind in KINDS
    }
    entities = ", ".join(entity.strip("[]") for entity in entries(answer, "entities"))
    description = " ".join(field_value(answer, "description").split())
    return {
        ENTITIES: f"[{entities}]",
        **{field: text or "None" for field, text in chains.items()},
        DESCRIPTION: description,
    }


def _bracket_chain(chain: str) -> str:
    if _IN_BRACKETS.fullmatch(chain):
        return chain
    return f"[{chain.replace('[', '(').replace(']', ')')}]"


ANNOTATION = suite_task(_TASKS["annotation"], annotation_units, to_raw_annotations)
MERGE_REVIEW = suite_task(_TASKS["merge_review"], merge_review_units, to_reviews)
