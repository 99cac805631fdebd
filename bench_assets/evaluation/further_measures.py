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
    return [
        ConfidentAnswer(
            confidence=score.confidence,
            right=score.points / score.max_points,
            cluster=question.cluster,
        )
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
    return selective_accuracy(_confident_answers(rows), share=0.5)


CALIBRATION: Mapping[str, Measure] = {
    "calibration_error": _calibration_error,
    "mean_confidence": _mean_confidence,
    "accuracy_of_confident_half": _accuracy_of_confident_half,
}
"""Added to a task's measures over all questions, if answers have a confidence."""


def _split_vote(vote: str) -> tuple[str, str]:
    """Annotator and verdict of an entry of ``Score.votes``."""
    annotator, _, verdict = vote.rpartition(": ")
    return annotator, verdict


def _rater_agreement(rows: Sequence[ScoredQuestion]) -> Mean:
    """Krippendorff's alpha of the annotators, over responses with several verdicts."""
    verdicts = [[verdict for _, verdict in map(_split_vote, row.score.votes)] for row in rows]
    n = sum(len(of_response) > 1 for of_response in verdicts)
    return _without_interval(krippendorff_alpha(verdicts), n)


def _raters(rows: Sequence[ScoredQuestion]) -> Mean:
    """Number of annotators who gave verdicts; n counts the responses that have any."""
    annotators = {annotator for row in rows for annotator, _ in map(_split_vote, row.score.votes)}
    n = sum(bool(row.score.votes) for row in rows)
    return _without_interval(float(len(annotators)), n)


def _without_interval(value: float, n: int) -> Mean:
    """A figure about n responses, as a mean without an interval."""
    return Mean(value=value, low=math.nan, high=math.nan, n_scored=n, n_unscored=0)


RATERS: Mapping[str, Measure] = {"rater_agreement": _rater_agreement, "raters": _raters}
"""Added to a task's measures over all questions, if people judged."""


def draw_measures(n: int, right_from: float) -> dict[str, Measure]:
    """Measures of n responses to each question: the mean, and pass@k.

    A response is right from the share ``right_from`` of the points.
    """
    measures: dict[str, Measure] = {f"avg@{n}": _mean_of_draws}
    for k in reported_k(n):
        measures[f"pass@{k}"] = partial(_pass_at_k, k, right_from)
    return measures


def _mean_of_draws(rows: Sequence[ScoredQuestion]) -> Mean:
    """Mean share of the points over the responses to each question, then over questions."""
    return _mean_of_questions(rows, lambda shares: fsum(shares) / len(shares))


def _pass_at_k(k: int, right_from: float, rows: Sequence[ScoredQuestion]) -> Mean:
    """Mean probability that one of k responses to a question is right."""

    def estimate(shares: Sequence[float]) -> float:
        n_right = sum(share >= right_from for share in shares)
        return pass_at_k(len(shares), n_right, k)

    return _mean_of_questions(rows, estimate)


def _mean_of_questions(
    rows: Sequence[ScoredQuestion], estimate: Callable[[Sequence[float]], float]
) -> Mean:
    """Average an estimate over questions, from the shares of points of each one's responses.

    A question is unscored if one of its responses is.
    """
    draws_by_question: dict[str, list[ScoredQuestion]] = {}
    for row in rows:
        draws_by_question.setdefault(row.question.question_id, []).append(row)
    points = []
    for draws in draws_by_question.values():
        shares = [
            score.points / score.max_points
            for _, score in draws
            if score.points is not None and score.max_points
        ]
        value = estimate(shares) if len(shares) == len(draws) else None
        points.append(ScoredPoint(value, draws[0].question.cluster))
    return mean(points)
