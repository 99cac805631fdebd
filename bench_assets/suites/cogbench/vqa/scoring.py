"""Scores multiple-choice questions: accuracy of each kind and of all (section 3.2).

Human accuracy is the share of right answers over all people and questions (section 3.4).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase, whitespace

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.reading.readings import UNREAD
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.core.tables.json_records import read_lines, records
from bench_assets.evaluation.task import AnsweredQuestion


def answer_form(question: Question) -> AnswerForm:
    """The letter of an option."""
    return AnswerForm("choice", question.options)


def score_carefully(answered: AnsweredQuestion, judgements: Sequence[Judgement] = ()) -> Score:
    """Give a point if the one option that the response commits to is right."""
    reading = answer_form(answered.question).read(answered.prediction.text)
    return _score(answered, reading.value if reading else None, reading.note if reading else UNREAD)


def score_officially(answered: AnsweredQuestion, judgements: Sequence[Judgement] = ()) -> Score:
    """Give a point if the response's first character is the right letter (vqa_accuracy.py).

    "The answer is D" is wrong, "b" is wrong, "Dogs" is D; nothing is stripped, so "<think>" is
    wrong. Their code fails at an empty response; here it is wrong.
    """
    question, prediction = answered
    first = (prediction.raw_text or prediction.text)[:1]
    offered = first in ascii_uppercase[: len(question.options)] and first
    return _score(answered, first if offered else None, "the first character")


def _score(answered: AnsweredQuestion, letter: str | None, why: str) -> Score:
    answer = (letter,) if letter else ()
    return Score.of(
        answered.prediction,
        points=float(answer == answered.question.answer),
        answer=answer,
        note=why,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAnswer:
    """A person's answer to a question."""

    question_id: str
    person: str
    answer: str  # a letter; "" if the person did not know


def read_human_answers(file: Path) -> list[PersonAnswer]:
    """Read people's answers: JSON lines with the fields of ``PersonAnswer``.

    The letter may be in brackets or lower case.

    Raises:
        SourceError: If the file cannot be read, or a line is not such an object or repeats an
            answer; names file and line.
    """
    answers = records(read_lines(file), PersonAnswer, unique=("person", "question_id")).require()
    return [
        replace(answer, answer=answer.answer.strip("()." + whitespace).upper())
        for answer in answers
    ]


def human_accuracy(
    questions: Sequence[Question], answers: Iterable[PersonAnswer]
) -> dict[str, Mean]:
    """Share of right answers by category, "all" first; every answer of every person counts once.

    A question without answers counts in ``n_unscored``.

    Raises:
        SourceError: If an answer is to an unknown question, or not a letter of its options.
    """
    by_question: dict[str, list[PersonAnswer]] = defaultdict(list)
    for answer in answers:
        by_question[answer.question_id].append(answer)
    if unknown := sorted(by_question.keys() - {q.question_id for q in questions}):
        raise SourceError(f"human answers: {len(unknown)} unknown questions, such as {unknown[0]}")
    points: dict[str, list[ScoredPoint]] = {"all": []}
    for question in questions:
        question_answers = by_question[question.question_id]
        letters = ("", *ascii_uppercase[: len(question.options)])
        if invalid := next((a for a in question_answers if a.answer not in letters), None):
            raise SourceError(
                f"human answers: {invalid.answer!r} of {invalid.person} to"
                f" {invalid.question_id} is no option"
            )
        right = [
            ScoredPoint(float((a.answer,) == question.answer), question.group_id)
            for a in question_answers
        ]
        for category in ("all", question.category):
            points.setdefault(category, []).extend(right or [ScoredPoint(None, question.group_id)])
    return {category: mean(point) for category, point in points.items()}
