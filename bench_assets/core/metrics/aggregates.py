"""Aggregates of scored questions, each with its interval: shares, groups, F1, IoU, word errors.

Questions about the same images, or of the same group, form a cluster.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import inf, nan
from string import ascii_uppercase
from typing import TypeAlias

import numpy as np

from bench_assets.core.metrics.short_answers import word_errors
from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.stats.means import (
    Floats,
    Mean,
    ScoredPoint,
    jackknife_interval,
    macro_mean,
    mean,
)

Scored: TypeAlias = tuple[Question, Score]
Aggregate: TypeAlias = Callable[[Sequence[Scored]], Mean]

IOU_THRESHOLD = 0.5  # IoU of a box that counts as found
_ROUNDING = 1e-9  # a smaller difference of IoU is a rounding error


def accuracy(scored: Sequence[Scored]) -> Mean:
    """Mean of the points of all questions; those about the same images are a cluster."""
    return mean(map(_point, scored))


def macro_accuracy(scored: Sequence[Scored]) -> Mean:
    """Mean of the accuracies of the categories, with equal weights."""
    categories: dict[str, list[ScoredPoint]] = defaultdict(list)
    for scored_question in scored:
        categories[scored_question[0].category].append(_point(scored_question))
    return macro_mean(categories.values())


def group_accuracy(scored: Sequence[Scored]) -> Mean:
    """Share of groups with all questions correct; unscored if one question is unscored.

    A question without a group forms a group of its own.
    """
    return _group_accuracy(scored, _group)


def group_accuracy_by(columns: Sequence[str]) -> Aggregate:
    """Make ``group_accuracy`` over the groups with the same values in ``columns``.

    A question with an empty value in one of them is left out.
    """

    def values(question: Question) -> list[str]:
        known = {**question.labels, "category": question.category, "group": question.group_id}
        return [known.get(name, "") for name in columns]

    def measure(scored: Sequence[Scored]) -> Mean:
        kept = [scored_question for scored_question in scored if all(values(scored_question[0]))]
        return _group_accuracy(kept, lambda question: "\n".join(values(question)))

    measure.__doc__ = f"Share of groups (same {columns}) with all questions correct."
    return measure


def accuracy_at_half(scored: Sequence[Scored]) -> Mean:
    """Share of boxes with an intersection over union (IoU) of at least a half."""
    points = (_point(scored_question) for scored_question in scored)
    return mean(
        point
        if point.value is None
        else point._replace(value=float(point.value >= IOU_THRESHOLD - _ROUNDING))
        for point in points
    )


def precision(scored: Sequence[Scored]) -> Mean:
    """Share of "yes" responses that are right; 0 if there are none."""
    return _yes_measure(scored, lambda n: _ratio(n[:, 0], n[:, 0] + n[:, 1]))


def recall(scored: Sequence[Scored]) -> Mean:
    """Share of the questions with the answer "yes" that were answered "yes"."""
    return _yes_measure(scored, lambda n: _ratio(n[:, 0], n[:, 0] + n[:, 2]))


def f1(scored: Sequence[Scored]) -> Mean:
    """Harmonic mean of the precision and the recall of "yes"."""
    return _yes_measure(scored, lambda n: _ratio(2 * n[:, 0], 2 * n[:, 0] + n[:, 1] + n[:, 2]))


def yes_ratio(scored: Sequence[Scored]) -> Mean:
    """Share of "yes" among all responses."""
    return _yes_measure(scored, lambda n: _ratio(n[:, 0] + n[:, 1], n[:, 3]))


def word_error_rate(scored: Sequence[Scored]) -> Mean:
    """Word error rate (WER): word errors of all responses over the words of their references."""
    with_points, n_unscored = _drop_unscored(scored)
    parts = [
        word_errors(" ".join(score.answer), question.answer) for question, score in with_points
    ]
    return _mean_from_counts(
        with_points, parts, lambda n: _ratio(n[:, 0], n[:, 1]), n_unscored, inf
    )


def _yes_measure(scored: Sequence[Scored], measure: Callable[[Floats], Floats]) -> Mean:
    """A measure of four counts: right "yes", wrong "yes", missed "yes", responses."""
    with_points, n_unscored = _drop_unscored(scored)
    predicted = [_is_yes(question, score.answer) for question, score in with_points]
    gold = [_is_yes(question, question.answer) for question, _ in with_points]
    counts = [
        (a and b, a and not b, b and not a, True) for a, b in zip(predicted, gold, strict=True)
    ]
    return _mean_from_counts(with_points, counts, measure, n_unscored)


def _mean_from_counts(
    given: Sequence[Scored],
    counts: Sequence[Sequence[float]],
    measure: Callable[[Floats], Floats],
    n_unscored: int,
    top: float = 1.0,
) -> Mean:
    if not given:
        return Mean(nan, nan, nan, 0, n_unscored)
    parts = np.array(counts, float)
    (value,) = measure(parts.sum(axis=0, keepdims=True))
    low, high = jackknife_interval(parts, [question.cluster for question, _ in given], measure, top)
    return Mean(float(value), low, high, len(given), n_unscored)


def _drop_unscored(scored: Sequence[Scored]) -> tuple[list[Scored], int]:
    with_points = [
        scored_question for scored_question in scored if scored_question[1].points is not None
    ]
    return with_points, len(scored) - len(with_points)


def _is_yes(question: Question, answer: Sequence[str]) -> bool:
    """Whether an answer is "yes", as a word or as the letter of that option."""
    if not question.options:
        return tuple(answer) == ("yes",)
    texts = dict(zip(ascii_uppercase, question.options, strict=False))
    return [texts.get(letter, "").strip(" .").casefold() for letter in answer] == ["yes"]


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _group_accuracy(scored: Sequence[Scored], group: Callable[[Question], str]) -> Mean:
    products: dict[tuple[int, str], float | None] = {}  # None: one of the group is unscored
    for question, score in scored:
        key = score.sample, group(question)
        product, points = products.get(key, 1.0), score.points
        products[key] = None if product is None or points is None else product * points
    return mean(ScoredPoint(points, name) for (_, name), points in products.items())


def _group(question: Question) -> str:
    return question.group_id or question.question_id


def _point(one: Scored) -> ScoredPoint:
    question, score = one
    return ScoredPoint(score.points, question.cluster)
