"""Answers with everything filled in, so that a test names only what people said."""

from bench_assets.annotation.tasks import AnnotationTask, Answer, Unit


def answer(
    unit: str, person: str = "ana", at: str = "2026-11-22T10:00:00.000Z", **values: object
) -> Answer:
    """What a person said of a unit; a text stands for a list of one."""
    told = {k: (v,) if isinstance(v, str) else tuple(v) for k, v in values.items()}  # type: ignore[call-overload]
    return Answer(
        task="t/task",
        task_version="",
        unit_id=unit,
        unit_digest="",
        person=person,
        values=told,
        at=at,
        changed_at=at,
        tool="files",
    )


def fits(task: AnnotationTask, unit: Unit, said: Answer) -> str:
    """Why an answer does not fit the task and the unit; "" if it does."""
    from bench_assets.annotation.answers.validation import AnswerValidator

    return AnswerValidator(task, {unit.unit_id: unit}).complaint_of(said)
