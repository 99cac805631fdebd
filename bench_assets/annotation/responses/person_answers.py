"""Answers of people to questions with options: the human baseline of a task."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bench_assets.annotation.answers.values import choice_letter
from bench_assets.annotation.responses.units import option_units
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    SourceTable,
    SuiteAnnotationTask,
    field_value,
)
from bench_assets.core.schema.rows import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAnswer:
    """A person's answer to a question."""

    question_id: str
    person: str
    answer: str  # a letter; "" if the person did not know


def person_answers_task(task: AnnotationTask, questions: str, needed: int) -> SuiteAnnotationTask:
    """Build the annotation task in which people answer a table's questions, without their keys."""
    return SuiteAnnotationTask(
        task=task,
        reads={"questions": SourceTable(questions, Question)},
        units=partial(option_units, task, needed=needed),
        row=PersonAnswer,
        to_rows=_person_answers,
    )


def _person_answers(answers: Sequence[Answer]) -> list[PersonAnswer]:
    return [
        PersonAnswer(
            question_id=answer.unit_id,
            person=answer.person,
            answer=choice_letter(field_value(answer, "answer")),
        )
        for answer in answers
    ]
