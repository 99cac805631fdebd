"""Turns multiple-choice questions of the source into questions of the benchmark."""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Edition, Question, StoredImage
from bench_assets.suites.cogbench.construction.selection import question_id
from bench_assets.suites.cogbench.dataset.reasoning_kinds import find_kind
from bench_assets.suites.cogbench.dataset.source import SourceQuestion


def to_questions(
    questions: Iterable[SourceQuestion],
    images: Mapping[str, StoredImage],
    edition: Edition,
    flags: Mapping[str, str] = MappingProxyType({}),
) -> list[Question]:
    """Ask each question, its options in the order of the source.

    A published question that stands there twice is asked twice; the second id ends in "-2".

    Args:
        questions: The selected ones.
        images: Stored images by image id.
        edition: ``"published"``, ``"mini"`` or ``"built"``.
        flags: Question id -> what was found doubtful and not refined; tables are sliced by it.

    Raises:
        SourceError: If a category is unknown.
    """
    times: Counter[str] = Counter()
    rows = []
    for question in questions:
        name = question_id(question)
        times[name] += 1
        rows.append(
            Question(
                question_id=name if times[name] == 1 else f"{name}-{times[name]}",
                task="cogbench/vqa",
                edition=edition,
                kind="choice",
                text=question.text,
                answer=(question.answer,),
                images=(images[question.image_id].sha256,),
                options=question.options,
                category=_category(question),
                group_id=question.image_id,
                labels={"flags": flags[name]} if name in flags else {},
            )
        )
    return rows


def _category(question: SourceQuestion) -> str:
    kind = find_kind(question.category)
    if kind is None:
        raise SourceError(f"{question.where}: unknown category {question.category!r}")
    return kind.name
