"""Aggregates of scored questions, each with its interval: shares, groups, F1, IoU, word errors.

Questions about the same images, or of the same group, form a cluster.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from math import inf, nan
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

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
_ROUNDING = 1e-9  # rounding error of a difference of IoU


def accuracy(scored: Sequence[Scored]) -> Mean:
    """Mean of the points of all questions."""
    return mean(_point(question, score) for question, score in scored)


def macro_accuracy(scored: Sequence[Scored]) -> Mean:
    """Mean of the accuracies of the categories, with equal weights."""
    categories: dict[str, list[ScoredPoint]] = defaultdict(list)
    for question, score in scored:
        categories[question.category].append(_point(question, score))
    return macro_mean(categories.values())


def group_accuracy(scored: Sequence[Scored]) -> Mean:
    """Share of groups with all questions right: the mean product of their points.

    A group with an unscored question is unscored. A question without a group is one of its own.
    """
    return _group_accuracy(scored, lambda question: question.group_id or question.question_id)


def group_accuracy_by(columns: Sequence[str]) -> Aggregate:
    """Make ``group_accuracy`` over the groups with the same values in ``columns``.

    A question with an empty value in one of them is left out.
    """

    def column_values(question: Question) -> list[str]:
        cells = {**question.labels, "category": question.category, "group": question.group_id}
        return [cells.get(column, "") for column in columns]

    def measure(scored: Sequence[Scored]) -> Mean:
        grouped = [(question, score) for question, score in scored if all(column_values(question))]
        return _group_accuracy(grouped, lambda question: "\n".join(column_values(question)))

    measure.__doc__ = f"Share of groups (same {columns}) with all questions correct."
    return measure


def accuracy_at_half(scored: Sequence[Scored]) -> Mean:
    """Share of boxes with an intersection over union (IoU) of at least a half."""
    least = IOU_THRESHOLD - _ROUNDING
    points = (_point(question, score) for question, score in scored)
    return mean(
        point._replace(value=None if point.value is None else float(point.value >= least))
        for point in points
    )


def precision(scored: Sequence[Scored]) -> Mean:
    """Share of "yes" responses that are right; 0 if there are none."""
    return _yes_measure(scored, lambda n: _ratio(n.right, n.right + n.wrong))


def recall(scored: Sequence[Scored]) -> Mean:
    """Share of the questions with the answer "yes" that were answered "yes"; 0 without any."""
    return _yes_measure(scored, lambda n: _ratio(n.right, n.right + n.missed))


def f1(scored: Sequence[Scored]) -> Mean:
    """Harmonic mean of the precision and the recall of "yes"; 0 if both are 0."""
    return _yes_measure(scored, lambda n: _ratio(2 * n.right, 2 * n.right + n.wrong + n.missed))


def yes_ratio(scored: Sequence[Scored]) -> Mean:
    """Share of "yes" among all responses."""
    return _yes_measure(scored, lambda n: _ratio(n.right + n.wrong, n.responses))


def word_error_rate(scored: Sequence[Scored]) -> Mean:
    """Word error rate (WER): word errors of all responses over the words of their references."""
    with_points, n_unscored = drop_unscored(scored)
    counts = [
        word_errors(" ".join(score.answer), question.answer) for question, score in with_points
    ]
    # The columns are the errors and the words.
    return mean_from_counts(with_points, counts, lambda sums: _ratio(*sums.T), n_unscored, top=inf)


class _YesCounts(NamedTuple):
    """Columns of the counts of responses, a row for each set of questions."""

    right: Floats  # "yes" where it is the answer
    wrong: Floats  # "yes" where it is not the answer
    missed: Floats  # the answer is "yes", the response is not
    responses: Floats


def _yes_measure(scored: Sequence[Scored], measure: Callable[[_YesCounts], Floats]) -> Mean:
    """Mean of a measure that follows from the counts of "yes"."""
    with_points, n_unscored = drop_unscored(scored)
    counts = []
    for question, score in with_points:
        says_yes, is_yes = _is_yes(question, score.answer), _is_yes(question, question.answer)
        # The columns of ``_YesCounts``.
        counts.append((says_yes and is_yes, says_yes and not is_yes, is_yes and not says_yes, True))
    return mean_from_counts(
        with_points, counts, lambda sums: measure(_YesCounts(*sums.T)), n_unscored
    )


def mean_from_counts(
    scored: Sequence[Scored],
    counts: Floats | Sequence[Sequence[float]],
    measure: Callable[[Floats], Floats],
    n_unscored: int,
    top: float = 1.0,
) -> Mean:
    """A measure, at most ``top``, of the summed rows of counts, with its interval by jackknife."""
    if not scored:
        return Mean(value=nan, low=nan, high=nan, n_scored=0, n_unscored=n_unscored)
    rows = np.array(counts, float)
    clusters = [question.cluster for question, _ in scored]
    (value,) = measure(rows.sum(axis=0, keepdims=True))
    low, high = jackknife_interval(rows, clusters, measure, top)
    n = len(scored)
    return Mean(value=float(value), low=low, high=high, n_scored=n, n_unscored=n_unscored)


def drop_unscored(scored: Sequence[Scored]) -> tuple[list[Scored], int]:
    """The questions with points, and the number of the others."""
    with_points = [(question, score) for question, score in scored if score.points is not None]
    return with_points, len(scored) - len(with_points)


def _is_yes(question: Question, answer: Sequence[str]) -> bool:
    """Whether an answer is "yes", as a word or as the letter of that option."""
    if not question.options:
        return tuple(answer) == ("yes",)
    texts = dict(zip(ascii_uppercase, question.options, strict=False))
    return [texts.get(letter, "").strip(" .").casefold() for letter in answer] == ["yes"]


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Divide; 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def _group_accuracy(scored: Sequence[Scored], group_name: Callable[[Question], str]) -> Mean:
    """Mean product of the points of a group in a sample; all samples of a group are a cluster."""
    products: dict[tuple[int, str], float | None] = {}  # None: one of the group is unscored
    for question, score in scored:
        key = score.sample, group_name(question)
        product, points = products.get(key, 1.0), score.points
        products[key] = None if product is None or points is None else product * points
    return mean(ScoredPoint(product, name) for (_, name), product in products.items())


def _point(question: Question, score: Score) -> ScoredPoint:
    return ScoredPoint(score.points, question.cluster)
