"""Statistical power, and the error budget of a training run's comparisons.

Differences are those of two models in the share of points, tested two-sided. ``spread`` is the
variance of the difference per question: the sum of both models' variances for different questions,
the variance of the change for the same questions. Clusters enter by their design effect.
"""

from collections.abc import Collection
from math import ceil, sqrt
from statistics import NormalDist

from bench_assets.core.stats.means import Z, approximate_t_quantile

_NORMAL = NormalDist()
_POWER = _NORMAL.inv_cdf(0.8)


def unpaired_variance(baseline: float) -> float:
    """Spread of the difference of two models on different questions, both near a baseline.

    >>> unpaired_variance(0.5)
    0.5
    """
    return 2 * baseline * (1 - baseline)


def design_effect(sizes: Collection[float], correlation: float) -> float:
    """Variance inflation by clusters of these sizes, whose questions correlate.

    >>> design_effect([2, 2], correlation=1.0), design_effect([1, 1, 1], correlation=0.5)
    (2.0, 1.0)
    """
    total = sum(sizes)
    return 1 + correlation * (sum(size * size for size in sizes) / total - 1)


def detectable_difference(spread: float, n: float) -> float:
    """The smallest difference that n questions detect with a power of 80 %, at level 0.05.

    >>> round(detectable_difference(0.5, 785), 3)  # 2.8 * sqrt(0.5 / 785)
    0.071
    """
    return (_critical(n) + _POWER) * sqrt(spread / n)


def required_sample_size(spread: float, difference: float) -> int:
    """Number of questions that detect a difference with a power of 80 %.

    >>> required_sample_size(0.5, 0.1)  # 2.81 squared times 0.5 / 0.01
    395
    """
    normal_n = spread * ((Z + _POWER) / difference) ** 2  # Student's quantile depends on n
    standard_errors = _critical(max(2.0, normal_n)) + _POWER
    return ceil(spread * (standard_errors / difference) ** 2)


def detection_power(spread: float, n: float, difference: float) -> float:
    """Power: probability that n questions detect a difference."""
    return _NORMAL.cdf(abs(difference) / sqrt(spread / n) - _critical(n))


def _critical(n: float) -> float:
    """Critical value of a difference over n questions, in standard errors."""
    return approximate_t_quantile(max(1.0, n - 1))


def comparison_alpha(comparison: int, alpha: float) -> float:
    """Share of alpha for a comparison of a run, numbered from 1; all together spend alpha.

    >>> comparison_alpha(1, 0.05)
    0.025
    >>> round(sum(comparison_alpha(k, 0.05) for k in range(1, 10_000)), 4)
    0.05
    """
    return alpha / (comparison * (comparison + 1))
