"""Statistical power, and sequential tests with a bounded false-alarm rate.

Differences are those of two models in the share of points, tested two-sided. ``spread`` is the
variance of the difference per question: the sum of both models' variances for different questions,
the variance of the change for the same questions. Clusters enter by their design effect.

Sequential tests control false alarms under repeated looks. While a model answers more and more
questions, a betting test (Waudby-Smith and Ramdas, *Estimating means of bounded random variables by
betting*, 2024) is valid at any stopping time. Over the checkpoints of a run, alpha is spent in
parts that add up to it.
"""

from collections.abc import Collection, Iterable
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


def design_effect(sizes: Collection[float], together: float) -> float:
    """Variance inflation by clusters whose questions have the correlation ``together``.

    >>> design_effect([2, 2], together=1.0), design_effect([1, 1, 1], together=0.5)
    (2.0, 1.0)
    """
    total = sum(sizes)
    return 1 + together * (sum(size * size for size in sizes) / total - 1)


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
    n = spread * ((Z + _POWER) / difference) ** 2
    wide = _critical(max(2.0, n)) + _POWER
    return ceil(spread * (wide / difference) ** 2)


def interval_sample_size(share: float, half_width: float) -> int:
    """Number of units for a 95 % interval of a share with this half-width.

    >>> (
    ...     interval_sample_size(0.5, 0.1),
    ...     interval_sample_size(0.9, 0.05),
    ... )  # 3.84 times 0.25 / 0.01; 0.09 / 0.0025
    (97, 139)
    """
    return ceil(share * (1 - share) * (Z / half_width) ** 2)


def detection_power(spread: float, n: float, difference: float) -> float:
    """Power: probability that n questions detect a difference."""
    return _NORMAL.cdf(abs(difference) / sqrt(spread / n) - _critical(n))


def _critical(n: float) -> float:
    return approximate_t_quantile(max(1.0, n - 1))


_MAX_BET = 0.5  # largest bet as a share of the wealth: no single question loses it all


def sequential_p_value(gains: Iterable[float]) -> float:
    """Anytime-valid p-value of the null hypothesis that a model is no worse.

    Under the null hypothesis, it ever falls to p with probability at most p, however often it is
    computed while ``gains`` grow. The order of questions must not depend on the gains.

    Args:
        gains: Gain of the model on each independent question or cluster, in [-1, 1].

    >>> sequential_p_value([-1.0] * 20) < 0.001, sequential_p_value([1.0, -1.0] * 50)
    (True, 1.0)
    """
    wealth = most = 1.0
    n, total, squares = 1, 0.0, 0.25  # prior: one gain of 0 with variance 0.25
    for gain in gains:
        bet = min(_MAX_BET, max(0.0, -total / n) / (squares / n + (total / n) ** 2))
        wealth *= 1 - bet * gain
        most = max(most, wealth)
        squares += (gain - total / n) ** 2
        total += gain
        n += 1
    return 1 / most


def comparison_alpha(comparison: int, alpha: float) -> float:
    """Share of alpha for the k-th comparison of a run, from 1; all together spend alpha.

    >>> (
    ...     comparison_alpha(1, 0.05),
    ...     round(sum(comparison_alpha(k, 0.05) for k in range(1, 10_000)), 4),
    ... )
    (0.025, 0.05)
    """
    return alpha / (comparison * (comparison + 1))
