"""Calibration: whether answers are right as often as their confidence says.

Expected calibration error over ten bins of equal width (Guo et al. 2017, equation 3), with a
jackknife interval over clusters; accuracy of the most confident answers (selective prediction).
"""

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np

from bench_assets.core.stats.means import Floats, Mean, ScoredPoint, jackknife_interval, mean

BINS = 10  # of confidence, equally wide


class ConfidentAnswer(NamedTuple):
    """An answer with its probability."""

    confidence: float  # [0, 1]
    right: float  # share of the points, [0, 1]
    cluster: str = ""


def expected_calibration_error(answers: Sequence[ConfidentAnswer]) -> Mean:
    """Mean distance of accuracy and confidence, each bin weighted by its answers; in [0, 1].

    >>> expected_calibration_error([ConfidentAnswer(0.9, 1.0), ConfidentAnswer(0.7, 0.0)]).value
    0.4
    """
    if not answers:
        return Mean(nan, nan, nan, 0, 0)
    parts = np.zeros((len(answers), BINS + 1))
    for n, answer in enumerate(answers):
        parts[n, _bin(answer.confidence)] = answer.right - answer.confidence
        parts[n, BINS] = 1.0

    def error(sums: Floats) -> Floats:
        errors: Floats = np.abs(sums[:, :BINS]).sum(axis=1) / sums[:, BINS]
        return errors

    value = float(round(error(parts.sum(axis=0, keepdims=True))[0], 12))
    clusters = [answer.cluster or str(n) for n, answer in enumerate(answers)]
    low, high = jackknife_interval(parts, clusters, error, 1.0)
    return Mean(value, low, high, len(answers), 0)


def selective_accuracy(answers: Sequence[ConfidentAnswer], share: float) -> Mean:
    """Accuracy of the most confident answers (selective prediction).

    Ties at the threshold are all included.

    Args:
        answers: All answers.
        share: Coverage, in (0, 1].
    """
    confidences = sorted((answer.confidence for answer in answers), reverse=True)
    threshold = confidences[max(1, round(share * len(confidences))) - 1] if confidences else 0.0
    selected = [answer for answer in answers if answer.confidence >= threshold]
    return mean(
        ScoredPoint(answered.right, answered.cluster or str(n))
        for n, answered in enumerate(selected)
    )


def _bin(confidence: float) -> int:
    return min(BINS - 1, int(confidence * BINS))
