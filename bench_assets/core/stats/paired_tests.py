"""Paired tests of two models on the same questions.

All tests are two-sided. Questions that share an image or a group form a cluster, because they are
right or wrong together.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import erfc, fsum, inf, isfinite, sqrt
from typing import NamedTuple

import numpy as np

from bench_assets.core.stats.means import Floats, satterthwaite_freedom, student_p, student_quantile

_ALPHA = 0.05  # share of cases that a 95 % interval misses
_FEW = 25  # effective clusters, below which there are few
_UNEVEN = 0.75  # effective clusters per cluster, below which clusters are uneven
_ENUMERATED = 14  # clusters, up to which all combinations of signs are tried
_ROUNDING = 1e-6  # rounding error of points in a report


class PairedScores(NamedTuple):
    """A question with its points from both models."""

    before: float
    after: float
    cluster: str
    most: float = 1.0  # maximum points of the question


def mean_change(pairs: Sequence[PairedScores]) -> float:
    """Points gained, as a share of the maximum; in [-1, 1].

    >>> pairs = [PairedScores(1, 0, cluster="a"), PairedScores(1, 1, cluster="b", most=3)]
    >>> mean_change(pairs)
    -0.25
    """
    return fsum(pair.after - pair.before for pair in pairs) / fsum(pair.most for pair in pairs)


def change_interval(pairs: Sequence[PairedScores]) -> tuple[float, float]:
    """95 % interval of the change by Student's t over clusters.

    The variance has the lower bound of ``change_variance``, so that few questions that changed
    alike do not look certain. The interval excludes 0 exactly if ``paired_t_test`` finds p below
    0.05. It is clipped to [-1, 1] if all points are between 0 and the maximum. With points in fewer
    than two clusters, it is (-inf, inf).

    >>> pairs = [PairedScores(0, after, cluster=str(n)) for n, after in enumerate([1, 0, 0, 1])]
    >>> low, high = change_interval(pairs)
    >>> round(low, 2), round(high, 2)  # 0.5 - 3.18 * 0.289; 0.5 + 0.92 is more than 1
    (-0.42, 1.0)
    """
    estimate = _estimate_change(pairs)
    if estimate is None:
        return -inf, inf
    half_width = student_quantile(estimate.freedom) * estimate.error
    if estimate.least_p >= _ALPHA:
        half_width = max(half_width, abs(estimate.change))
    limit = 1.0 if all(map(_is_share, pairs)) else inf
    return max(estimate.change - half_width, -limit), min(estimate.change + half_width, limit)


def interval_text(low: float, high: float) -> str:
    """Format the interval of a change, which is unknown if only one unit or cluster was compared.

    >>> interval_text(-0.5, 0.25), interval_text(-inf, inf)
    ('-0.500 to +0.250', 'unknown')
    """
    return f"{low:+.3f} to {high:+.3f}" if isfinite(low) else "unknown"


def paired_t_test(pairs: Sequence[PairedScores]) -> float:
    """Two-sided p-value of two models being equally good: Student's t of the change over clusters.

    For points of any kind. For right-or-wrong points on independent questions it is McNemar's test
    (1947), with Student's t in place of the normal distribution. From 30 questions on, of which
    15 % change, it calls equal models different in 3.5 to 6.5 % of cases (binomial sums). The
    number of changed clusters bounds p from below: three are never enough. So does the sign-flip
    test, if few uneven clusters have most of the weight: t alone has up to 30 % false alarms there.

    >>> pairs = [PairedScores(0, after, cluster=str(n)) for n, after in enumerate([1, 0, 0, 1])]
    >>> round(paired_t_test(pairs), 4)  # 0.5 / 0.289 = 1.73, three degrees of freedom
    0.1817
    """
    estimate = _estimate_change(pairs)
    if estimate is None or not estimate.change:
        return 1.0
    p = student_p(estimate.change / estimate.error, estimate.freedom)
    return max(p, estimate.least_p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, in order (Holm, 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = list(p_values)
    highest = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected


def change_variance(pairs: Sequence[PairedScores]) -> float:
    """Variance of a question's change, inflated by clusters.

    At least that of one changed question in n + 2, so that a few questions without a change do not
    look certain.

    >>> round(change_variance([PairedScores(i % 2, 1 - i % 2, str(i)) for i in range(100)]), 2)
    1.0
    """
    n = len(pairs)
    mean_most = sum(pair.most for pair in pairs) / n
    change = mean_change(pairs)
    squares = sum((gained - change * most) ** 2 for gained, most in _cluster_gains(pairs))
    return max(squares / mean_most**2 / n, 1 / (n + 2))


class _ChangeEstimate(NamedTuple):
    """Estimate of a change over pairs."""

    change: float
    error: float  # its standard error
    freedom: float  # Satterthwaite's
    least_p: float  # lower bound of p


def _estimate_change(pairs: Sequence[PairedScores]) -> _ChangeEstimate | None:
    """Estimate the change of the points; None for fewer than two clusters with points."""
    gained, most = np.array(_cluster_gains(pairs)).reshape(-1, 2).T
    n, total, n_clusters = len(pairs), fsum(most), np.count_nonzero(most)
    if n_clusters < 2:
        return None
    change, leverage = fsum(gained) / total, most / total
    squares = fsum((gained - change * most) ** 2 / (1 - leverage))  # CR2
    error = sqrt(max(squares / total**2, 1 / (n * (n + 2))))
    freedom = satterthwaite_freedom(leverage)
    least_p = 2.0 ** -(int(np.count_nonzero(gained)) + 1)  # mid-p of a sign test, if all gain
    n_effective = 1 / fsum(leverage**2)
    is_uneven = n_effective < min(_FEW, _UNEVEN * n_clusters)
    if is_uneven and student_p(change / error, freedom) < _ALPHA:
        least_p = max(least_p, _sign_flip_p(gained))
    return _ChangeEstimate(change=change, error=error, freedom=freedom, least_p=least_p)


def _is_share(pair: PairedScores) -> bool:
    """Whether the points of both models are between 0 and the maximum."""
    lower, higher = sorted((pair.before, pair.after))
    return lower >= 0 and higher <= pair.most + _ROUNDING


def _sign_flip_p(gained: Floats) -> float:
    """p-value of a sum of gains, when each cluster's gain may have either sign (Fisher, 1935).

    Exact for the ``_ENUMERATED`` largest gains; the sum of the others is treated as normal.

    >>> _sign_flip_p(np.array([3.0, 1.0, 1.0]))  # 5 or -5, 2 of 8 ways
    0.25
    """
    sizes = np.sort(np.abs(gained))[::-1]
    sums = np.zeros(1)
    for size in sizes[:_ENUMERATED]:
        sums = np.concatenate([sums - size, sums + size])
    total = abs(fsum(gained))
    spread = sqrt(2 * fsum(sizes[_ENUMERATED:] ** 2))
    if spread == 0:
        return float((np.abs(sums) >= total - _ROUNDING).mean())
    return fsum(erfc((total - exact_sum) / spread) for exact_sum in sums.tolist()) / len(sums)


def _cluster_gains(pairs: Sequence[PairedScores]) -> list[tuple[float, float]]:
    """Points gained and maximum points of each cluster."""
    gained: dict[str, float] = defaultdict(float)
    most: dict[str, float] = defaultdict(float)
    for pair in pairs:
        gained[pair.cluster] += pair.after - pair.before
        most[pair.cluster] += pair.most
    return [(gained[name], most[name]) for name in gained]
