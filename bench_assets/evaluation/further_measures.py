"""Measures beside a task's own, over all its questions: calibration, raters, several responses."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import fsum

from bench_assets.core.stats.calibration import (
    ConfidentAnswer,
    expected_calibration_error,
    selective_accuracy,
)
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.core.stats.rater_agreement import krippendorff_alpha
from bench_assets.core.stats.repeated_draws import pass_at_k, reported_k
from bench_assets.evaluation.task import Measure, ScoredQuestion


def _confident_answers(rows: Sequence[ScoredQuestion]) -> list[ConfidentAnswer]:
    """Scored answers with a confidence."""
    return [
        ConfidentAnswer(score.confidence, score.points / score.max_points, question.cluster)
        for question, score in rows
        if score.confidence is not None and score.points is not None and score.max_points
    ]


def _calibration_error(rows: Sequence[ScoredQuestion]) -> Mean:
    """Expected calibration error over ten bins; lower is better."""
    return expected_calibration_error(_confident_answers(rows))


def _mean_confidence(rows: Sequence[ScoredQuestion]) -> Mean:
    """Mean probability of the answer among the options."""
    return mean(
        ScoredPoint(score.confidence, question.cluster)
        for question, score in rows
        if score.confidence is not None
    )


def _accuracy_of_confident_half(rows: Sequence[ScoredQuestion]) -> Mean:
    """Accuracy of the more confident half of the answers."""
    return selective_accuracy(_confident_answers(rows), 0.5)


CALIBRATION: Mapping[str, Measure] = {
    "calibration_error": _calibration_error,
    "mean_confidence": _mean_confidence,
    "accuracy_of_confident_half": _accuracy_of_confident_half,
}
"""Added to a task's measures over all questions, if answers have a confidence."""


def _rater_agreement(rows: Sequence[ScoredQuestion]) -> Mean:
    """Krippendorff's alpha of the annotators, over responses with several verdicts."""
    votes = [[vote.rpartition(": ")[2] for vote in score.votes] for _, score in rows]
    n = sum(len(vote) > 1 for vote in votes)
    return Mean(krippendorff_alpha(votes), math.nan, math.nan, n, 0)


def _raters(rows: Sequence[ScoredQuestion]) -> Mean:
    """Number of annotators who gave verdicts."""
    people = {vote.rpartition(": ")[0] for _, score in rows for vote in score.votes}
    n = sum(bool(score.votes) for _, score in rows)
    return Mean(float(len(people)), math.nan, math.nan, n, 0)


RATERS: Mapping[str, Measure] = {"rater_agreement": _rater_agreement, "raters": _raters}
"""Added to a task's measures over all questions, if people judged."""


def draw_measures(n: int, right_from: float) -> dict[str, Measure]:
    """Measures of n responses to each question: the mean, and pass@k.

    Args:
        n: Responses to each question.
        right_from: Share of the points from which a response is right.
    """
    measures: dict[str, Measure] = {f"avg@{n}": _mean_of_draws}
    return measures | {f"pass@{k}": partial(_pass_at_k, k, right_from) for k in reported_k(n)}


def _mean_of_draws(rows: Sequence[ScoredQuestion]) -> Mean:
    """Mean share of the points over the responses to each question, then over questions."""
    return _mean_of_questions(rows, lambda shares: fsum(shares) / len(shares))


def _pass_at_k(k: int, right_from: float, rows: Sequence[ScoredQuestion]) -> Mean:
    """Mean probability that one of k responses to a question is right."""

    def estimate(shares: Sequence[float]) -> float:
        return pass_at_k(len(shares), sum(share >= right_from for share in shares), k)

    return _mean_of_questions(rows, estimate)


def _mean_of_questions(
    rows: Sequence[ScoredQuestion], value: Callable[[Sequence[float]], float]
) -> Mean:
    """Average a value of each question's responses; unscored if one of them is."""
    draws: dict[str, list[ScoredQuestion]] = {}
    for row in rows:
        draws.setdefault(row.question.question_id, []).append(row)
    points = []
    for drawn in draws.values():
        shares = [score.points / score.max_points for _, score in drawn
                  if score.points is not None and score.max_points]  # fmt: skip
        is_scored = len(shares) == len(drawn)
        points.append(ScoredPoint(value(shares) if is_scored else None, drawn[0].question.cluster))
    return mean(points)
