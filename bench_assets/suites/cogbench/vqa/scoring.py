"""Scores multiple-choice questions: accuracy of each kind and of all (section 3.2)."""

from collections.abc import Sequence
from string import ascii_uppercase

from bench_assets.core.choices import read_choice
from bench_assets.core.rows import Judgement, Score
from bench_assets.core.stats import Mean, Point, mean
from bench_assets.task import Answered, Scored


def score_carefully(answered: Answered, judgements: Sequence[Judgement] = ()) -> Score:
    """Give a point if the one option that the reply commits to is right."""
    question, prediction = answered
    letter, why = read_choice(prediction.text, question.options)
    return _score(answered, letter, why)


def score_officially(answered: Answered, judgements: Sequence[Judgement] = ()) -> Score:
    """Give a point if the reply's first character is the letter, as vqa_accuracy.py does.

    "The answer is D" is wrong, "b" is wrong, "Dogs" is D; a reply that begins with
    "<think>" is wrong, because nothing is taken off. Their code fails at an empty reply; here it
    is wrong.
    """
    question, prediction = answered
    first = (prediction.raw_text or prediction.text)[:1]
    offered = first in ascii_uppercase[: len(question.options)] and first
    return _score(answered, first if offered else None, "the first character")


def accuracy(scored: Sequence[Scored]) -> Mean:
    """Share of questions answered right; those about one picture are not independent."""
    return mean(Point(score.points, question.cluster) for question, score in scored)


def _score(answered: Answered, letter: str | None, why: str) -> Score:
    answer = (letter,) if letter else ()
    return Score.of(
        answered.prediction,
        points=float(answer == answered.question.answer),
        answer=answer,
        note=why,
    )
