"""Answers of people to questions with options: the human baseline of a task.

They come from an annotation task, or as JSON lines from a file of the settings.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from string import ascii_uppercase, whitespace

from bench_assets.annotation.answers.validation import keep_latest
from bench_assets.annotation.answers.values import choice_letter
from bench_assets.annotation.responses.units import option_units
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    SourceTable,
    SuiteAnnotationTask,
    word,
)
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.json_records import read_lines, records


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAnswer:
    """A person's answer to a question."""

    question_id: str
    person: str
    answer: str  # a letter; "" if the person did not know
    where: str = ""  # file and line, or task and unit, for messages


def person_answers_task(task: AnnotationTask, questions: str, needed: int) -> SuiteAnnotationTask:
    """The annotation task in which people answer the questions of a table, without their keys."""
    return SuiteAnnotationTask(
        task=task,
        reads={"questions": SourceTable(questions, Question)},
        units=partial(option_units, task, needed=needed),
        row=PersonAnswer,
        to_rows=_collected,
    )


def merge_person_answers(
    file: Path | None, collected: Iterable[PersonAnswer], questions: Sequence[Question]
) -> list[PersonAnswer]:
    """Answers of a file, and collected ones, which replace those to the same question.

    A letter in a file may be in brackets or lower case.

    Raises:
        SourceError: If the file cannot be read, a line is no such object or repeats an answer, a
            question is unknown, or an answer is not a letter of its options; names the line.
    """
    unique = ("person", "question_id")
    lines = records(read_lines(file), PersonAnswer, unique=unique).require() if file else []
    written = [replace(row, answer=row.answer.strip("()." + whitespace).upper()) for row in lines]
    answers = keep_latest([*written, *collected], lambda row: (row.question_id, row.person))
    letters = {row.question_id: ascii_uppercase[: len(row.options)] for row in questions}
    for row in answers:
        if row.question_id not in letters:
            raise SourceError(f"{row.where}: unknown question {row.question_id}")
        if row.answer not in ("", *letters[row.question_id]):
            raise SourceError(f"{row.where}: {row.answer!r} is not an option of the question")
    return answers


def _collected(answers: Sequence[Answer]) -> list[PersonAnswer]:
    return [
        PersonAnswer(
            question_id=answer.unit_id,
            person=answer.person,
            answer=choice_letter(word(answer, "answer")),
            where=f"{answer.task}, {answer.unit_id} by {answer.person}",
        )
        for answer in answers
    ]
