"""Measures beside a task's own, over all its questions: calibration of answers, and raters."""

import math
from collections.abc import Mapping, Sequence

from bench_assets.core.stats.calibration import (
    ConfidentAnswer,
    expected_calibration_error,
    selective_accuracy,
)
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.core.stats.rater_agreement import krippendorff_alpha
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
