"""Answers with everything filled in, so that a test names only the values."""

from collections.abc import Sequence
from dataclasses import replace

from bench_assets.annotation.tasks import AnnotationTask, Answer, SuiteAnnotationTask, Unit


def answer(
    unit: str,
    person: str = "ana",
    at: str = "2026-11-22T10:00:00.000Z",
    **values: str | Sequence[str],
) -> Answer:
    """An answer to a unit; a text value is a list of one text."""
    choices = {
        field: (value,) if isinstance(value, str) else tuple(value)
        for field, value in values.items()
    }
    return Answer(
        task="t/task",
        task_version="",
        unit_id=unit,
        unit_digest="",
        person=person,
        values=choices,
        at=at,
        changed_at=at,
        tool="files",
    )


def answer_to(
    task: SuiteAnnotationTask, unit: Unit, person: str, **values: str | Sequence[str]
) -> Answer:
    """An answer to a unit as it stands, given on the pages in two seconds."""
    return replace(
        answer(unit.unit_id, person, "2026-11-22T16:00:00.000Z", **values),
        task=task.task.name,
        task_version=task.task.version,
        unit_digest=unit.digest,
        seconds=2.0,
        tool="pages",
    )


def complaint(task: AnnotationTask, unit: Unit, vote: Answer) -> str:
    """The reason for which an answer does not fit the task and the unit; "" if it fits."""
    from bench_assets.annotation.answers.validation import AnswerValidator

    return AnswerValidator(task, {unit.unit_id: unit}).find_complaint(vote)
