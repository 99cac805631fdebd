"""Calibration: whether answers are right as often as their confidence says.

Expected calibration error over ten bins of equal width (Guo et al. 2017, equation 3), with a
jackknife interval over clusters; accuracy of the most confident answers (selective prediction).
"""

from collections.abc import Sequence
from math import nan
from typing import NamedTuple

import numpy as np

from bench_assets.core.stats.means import Floats, Mean, ScoredPoint, jackknife_interval, mean

BINS = 10  # bins of confidence, equally wide


class ConfidentAnswer(NamedTuple):
    """An answer with its probability."""

    confidence: float  # [0, 1]
    right: float  # share of the points, [0, 1]
    cluster: str = ""


def expected_calibration_error(answers: Sequence[ConfidentAnswer]) -> Mean:
    """Mean distance of accuracy and confidence, bins weighted by answers; NaN without answers.

    >>> expected_calibration_error([ConfidentAnswer(0.9, 1.0), ConfidentAnswer(0.7, 0.0)]).value
    0.4
    """
    if not answers:
        return Mean(value=nan, low=nan, high=nan, n_scored=0, n_unscored=0)
    parts = np.zeros((len(answers), BINS + 1))
    for index, answer in enumerate(answers):
        bin_index = min(BINS - 1, int(answer.confidence * BINS))
        parts[index, bin_index] = answer.right - answer.confidence
        parts[index, BINS] = 1.0
    (error,) = _calibration_errors(parts.sum(axis=0, keepdims=True)).round(12)  # 0.4, not 0.39...
    clusters = [answer.cluster or str(index) for index, answer in enumerate(answers)]
    low, high = jackknife_interval(parts, clusters, _calibration_errors, 1.0)
    return Mean(value=float(error), low=low, high=high, n_scored=len(answers), n_unscored=0)


def _calibration_errors(sums: Floats) -> Floats:
    """Calibration error of each row: sums by bin, then the number of answers."""
    return np.asarray(np.abs(sums[:, :BINS]).sum(axis=1) / sums[:, BINS])


def selective_accuracy(answers: Sequence[ConfidentAnswer], share: float) -> Mean:
    """Accuracy of the most confident answers (selective prediction); NaN without answers.

    ``share`` of all answers, in (0, 1], count, and all ties with the least confident of these.
    """
    confidences = sorted((answer.confidence for answer in answers), reverse=True)
    threshold = confidences[max(1, round(share * len(confidences))) - 1] if confidences else 0.0
    selected = [answer for answer in answers if answer.confidence >= threshold]
    return mean(
        ScoredPoint(answer.right, answer.cluster or str(index))
        for index, answer in enumerate(selected)
    )
