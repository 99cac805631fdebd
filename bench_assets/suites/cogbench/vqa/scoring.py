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
        right = [
            ScoredPoint(float((a.answer,) == question.answer), question.group_id)
            for a in by_question[question.question_id]
        ]
        for category in ("all", question.category):
            points.setdefault(category, []).extend(right or [ScoredPoint(None, question.group_id)])
    return {category: mean(point) for category, point in points.items()}
