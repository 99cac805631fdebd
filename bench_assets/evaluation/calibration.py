"""Calibration metrics of answers with a confidence, which likelihoods have."""

from collections.abc import Mapping, Sequence

from bench_assets.core.stats.calibration import (
    ConfidentAnswer,
    expected_calibration_error,
    selective_accuracy,
)
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.evaluation.task import Measure, ScoredQuestion


def confident_answers(rows: Sequence[ScoredQuestion]) -> list[ConfidentAnswer]:
    """The scored answers that have a confidence."""
    return [
        ConfidentAnswer(score.confidence, score.points / score.max_points, question.cluster)
        for question, score in rows
        if score.confidence is not None and score.points is not None and score.max_points
    ]


def calibration_error(rows: Sequence[ScoredQuestion]) -> Mean:
    """Mean distance of accuracy and confidence over ten bins; less is better."""
    return expected_calibration_error(confident_answers(rows))


def mean_confidence(rows: Sequence[ScoredQuestion]) -> Mean:
    """Mean probability of the answer among the options."""
    return mean(
        ScoredPoint(score.confidence, question.cluster)
        for question, score in rows
        if score.confidence is not None
    )


def accuracy_of_confident_half(rows: Sequence[ScoredQuestion]) -> Mean:
    """Accuracy of the more confident half of the answers."""
    return selective_accuracy(confident_answers(rows), 0.5)


CALIBRATION: Mapping[str, Measure] = {
    "calibration_error": calibration_error,
    "mean_confidence": mean_confidence,
    "accuracy_of_confident_half": accuracy_of_confident_half,
}
"""Beside a task's own measures, over all questions, where answers have a confidence."""
