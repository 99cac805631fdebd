"""Scores multiple-choice questions: accuracy of each kind and of all (section 3.2).

Human accuracy is the share of right answers over all people and questions (section 3.4).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from string import ascii_uppercase

from bench_assets.annotation.responses.person_answers import PersonAnswer
from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.reading.readings import UNREAD
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.evaluation.task import AnsweredQuestion


def answer_form(question: Question) -> AnswerForm:
    """The form of an answer: one of the question's options."""
    return AnswerForm("choice", question.options)


def score_carefully(answered: AnsweredQuestion, judgements: Sequence[Judgement] = ()) -> Score:
    """Give a point if the one option that the response commits to is right."""
    reading = answer_form(answered.question).read(answered.prediction.text)
    if reading is None:
        return _score(answered, None, UNREAD)
    return _score(answered, reading.value, reading.note)


def score_officially(answered: AnsweredQuestion, judgements: Sequence[Judgement] = ()) -> Score:
    """Give a point if the response's first character is the right letter (vqa_accuracy.py).

    "The answer is D" is wrong, "b" is wrong, "Dogs" is D; nothing is stripped, so "<think>" is
    wrong. Their code fails at an empty response; here it is wrong.
    """
    question, prediction = answered
    letters = ascii_uppercase[: len(question.options)]
    first = (prediction.raw_text or prediction.text)[:1]
    return _score(answered, first if first in letters else None, "the first character")


def _score(answered: AnsweredQuestion, letter: str | None, note: str) -> Score:
    answer = (letter,) if letter else ()
    return Score.of(
        answered.prediction,
        points=float(answer == answered.question.answer),
        answer=answer,
        note=note,
    )


def human_accuracy(
    questions: Sequence[Question], answers: Iterable[PersonAnswer]
) -> dict[str, Mean]:
    """Share of right answers by category, "all" first; every answer of every person counts once.

    A question without answers counts in ``n_unscored``.
    """
    by_question: dict[str, list[PersonAnswer]] = defaultdict(list)
    for answer in answers:
        by_question[answer.question_id].append(answer)
    points: dict[str, list[ScoredPoint]] = {"all": []}
    for question in questions:
        question_points = [
            ScoredPoint(float((answer.answer,) == question.answer), question.cluster)
            for answer in by_question[question.question_id]
        ] or [ScoredPoint(None, question.cluster)]
        for category in ("all", question.category):
            points.setdefault(category, []).extend(question_points)
    return {category: mean(category_points) for category, category_points in points.items()}
