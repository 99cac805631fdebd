"""Means with confidence intervals over clusters; effective sample sizes, jackknife, Student's t.

The variance over clusters is CR2 with Satterthwaite's degrees of freedom (Bell and McCaffrey,
2002), which accounts for clusters of unequal weight. It is too small where large clusters are right
or wrong as a whole: a fifth is replaced by the variance of a model in which all pairs of units in a
cluster have the same correlation. Measured coverage: docs/statistics.md, ``make coverage``.

Sums are exact and rounded once, so that means do not depend on the order of points or the machine.
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from math import fsum, inf, nan, prod, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

Z = 1.959963984540054
"""97.5 % quantile of the normal distribution: 95 % intervals."""

_OPPOSITE_CLUSTERS = 0.1  # of a cluster with the opposite result, added to the clusters
_MODEL = 0.2  # weight of the variance by a common correlation, where clusters are uneven
_PRIOR_CLUSTERS = 2.0  # normally distributed clusters, added to the clusters
_MIN_VARIANCE = 1e-15  # a smaller variance is a rounding error
_ROUNDING = 1e-9  # a smaller weight is a rounding error
_BYTES = 16  # size of a cluster's digest


class ScoredPoint(NamedTuple):
    """A unit of a mean: its value in [0, 1], None if unscored, and its cluster."""

    value: float | None
    cluster: str = ""  # units of one cluster (the same image, say) are not independent
    weight: float = 1.0


class Mean(NamedTuple):
    """A mean over the units that could be scored, with its 95 % interval."""

    value: float
    low: float
    high: float
    n_scored: int
    n_unscored: int
    n_clusters: float | None = None  # effective number: as many equal clusters (Kish, 1965)
    largest_cluster: float | None = None  # share of the weight


class ClusterInfluence(NamedTuple):
    """Influence of each cluster on a mean over groups."""

    shares: Floats  # of each cluster; they add up to 1 over all groups
    moves: Floats  # CR2: share times distance from the group's mean, over the root of 1 - leverage;
    # scaled so that their squares have the variance that ``_variance_factor`` mixes
    lone: float  # squared shares of groups that have only one cluster
    freedom: float  # Satterthwaite's degrees of freedom of the sum of squared moves
    settled: bool  # one group, whose clusters are each all right or all wrong and weigh the same


def mean(points: Iterable[ScoredPoint]) -> Mean:
    """Average points in [0, 1]; NaN, not 0, if there are none.

    The interval is Wilson's, on the effective number of units: the number that would give the
    cluster-robust variance of the mean if they were independent (Korn and Graubard, 1998). It
    stays inside [0, 1] and does not collapse when all units agree.

    >>> mean([ScoredPoint(1.0, "a"), ScoredPoint(0.0, "b"), ScoredPoint(None, "c")])[0:4:3]
    (0.5, 2)
    """
    return macro_mean([points])


def share_interval(value: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of n independent units.

    >>> [round(end, 3) for end in share_interval(0.5, 10)]
    [0.237, 0.763]
    """
    return _wilson(value, n, Z)


def macro_mean(groups: Iterable[Iterable[ScoredPoint]]) -> Mean:
    """Average the means of groups, each group counting the same; NaN if any group is empty.

    The interval is that of ``mean``, with the variance of a stratified sample, which excludes the
    variance between groups.

    >>> macro_mean([[ScoredPoint(1.0), ScoredPoint(1.0)], [ScoredPoint(0.0)]]).value
    0.5
    """
    parts = [_ScoredGroup(points, number) for number, points in enumerate(groups)]
    n_scored = sum(len(part.values) for part in parts)
    n_unscored = sum(part.n_unscored for part in parts)
    totals = [fsum(part.weights) for part in parts]
    if not totals or 0 in totals:
        return Mean(nan, nan, nan, n_scored, n_unscored)
    sums = [fsum(map(float.__mul__, part.values, part.weights)) for part in parts]
    means = [of_group / total for of_group, total in zip(sums, totals, strict=True)]
    value = fsum(means) / len(means)
    influence = _cluster_influence(parts, means, totals)
    low, high = _interval(value, influence, len(parts) > 1)
    n_clusters = 1 / fsum(influence.shares**2)
    largest = float(influence.shares.max())
    return Mean(value, low, high, n_scored, n_unscored, n_clusters, largest)


class _ScoredGroup:
    """The scored points of one group, as columns."""

    def __init__(self, points: Iterable[ScoredPoint], number: int) -> None:
        self.values, self.weights = array("d"), array("d")
        self.clusters = bytearray()  # a digest each
        self.n_unscored = 0
        for value, cluster, weight in points:
            if value is None:
                self.n_unscored += 1
                continue
            name = cluster or f"group {number} {len(self.values)}"
            self.clusters += _digest(name)
            self.values.append(value)
            self.weights.append(weight)


@lru_cache(8192)  # every metric has the same clusters
def _digest(cluster: str) -> bytes:
    return blake2b(cluster.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()


def _cluster_influence(
    groups: Sequence[_ScoredGroup], means: Sequence[float], totals: Sequence[float]
) -> ClusterInfluence:
    """Influence of the clusters of all groups on the mean of their means."""
    numbers, n_clusters = _numbered(b"".join(group.clusters for group in groups))
    shares, moves, estimated = np.zeros((3, n_clusters))
    lone, settled, start = 0.0, False, 0
    variances: list[tuple[float, float]] = []  # of each group's mean, and its freedom
    for group, centre, weight in zip(groups, means, totals, strict=True):
        of = numbers[start : start + len(group.values)]
        start += len(group.values)
        most, right = np.zeros((2, n_clusters))
        weights = np.frombuffer(group.weights)
        np.add.at(most, of, weights)  # one after the other, in their order
        np.add.at(right, of, weights * np.frombuffer(group.values))
        (present,) = most.nonzero()
        most, right = most[present], right[present]
        total = weight * len(groups)
        share, move = most / total, (right - centre * most) / total
        shares[present] += share
        if len(present) == 1:  # a lone cluster equals its group's mean
            lone += float(share[0] * share[0])
            continue
        leverage = most / weight
        even = bool(most.max() - most.min() < _ROUNDING)
        adjusted = move / np.sqrt(1 - leverage)
        if not even:
            adjusted *= _variance_factor(group, of, present, adjusted * len(groups))
        moves[present] += adjusted
        estimated[present] += share
        variances.append((1 / (total * len(groups)), _mixed_freedom(leverage, even)))
        settled = even and bool(np.all(np.minimum(right, most - right) < _ROUNDING))
    freedom = 1.0
    if variances:
        total_variance = fsum(variance for variance, _ in variances)
        parts = fsum(variance**2 / of_group for variance, of_group in variances)
        freedom = min(total_variance**2 / parts, _mixed_freedom(estimated / fsum(estimated)))
    positive = shares > 0
    return ClusterInfluence(
        shares[positive], moves[positive], lone, freedom, settled and len(groups) == 1
    )


def _variance_factor(
    group: _ScoredGroup, of: npt.NDArray[np.int64], present: npt.NDArray[np.int64], moves: Floats
) -> float:
    """Factor of the moves of uneven clusters that mixes their variance with that of a model.

    In the model all units have one variance, and two of a cluster one correlation, which the
    variances within and between clusters give (Fuller and Battese, 1973).
    """
    weights, values = np.frombuffer(group.weights), np.frombuffer(group.values)
    most, right, squares, bends = np.zeros((4, int(of.max()) + 1))
    for sums, parts in (
        (most, weights),
        (right, weights * values),
        (squares, weights**2),
        (bends, weights * values**2),
    ):
        np.add.at(sums, of, parts)
    most, right, squares, bends = (sums[present] for sums in (most, right, squares, bends))
    total, observed = fsum(most), fsum(moves**2)
    share, units = most / total, most**2 / squares  # effective units of each cluster
    inside = fsum(np.maximum(0.0, bends - right**2 / most)) / total
    repeated = 1 - 1 / units
    several = fsum(share * repeated)
    within = inside / several if several > _ROUNDING else 0.0  # variance of a unit in its cluster
    total_variance = fsum(bends) / total - (fsum(right) / total) ** 2
    spread = (total_variance - within * fsum(share**2 * repeated)) / (1 - fsum(share**2))
    correlation = max(0.0, 1 - within / spread) if spread > _ROUNDING else 0.0
    model = spread * fsum(share**2 * (correlation + (1 - correlation) / units))
    return (
        sqrt(1 - _MODEL + _MODEL * model / observed)
        if observed > _MIN_VARIANCE and model > 0
        else 1.0
    )


def _mixed_freedom(leverage: Floats, even: bool = False) -> float:
    """Degrees of freedom of the mixed variance, of which only the CR2 part is uncertain."""
    freedom = satterthwaite_freedom(leverage)
    n = int(np.count_nonzero(leverage))
    return freedom if even else max(freedom, min(n - 1.0, freedom / (1 - _MODEL) ** 2))


def satterthwaite_freedom(leverage: Floats) -> float:
    """Satterthwaite's degrees of freedom of a CR2 variance of a mean.

    k - 1 for k clusters of equal weight; fewer if a cluster dominates.

    Args:
        leverage: Share of the weight that each cluster has; 0 for those left out.

    >>> (
    ...     satterthwaite_freedom(np.full(8, 1 / 8)),
    ...     round(satterthwaite_freedom(np.array([0.5, *[1 / 120] * 60])), 1),
    ... )
    (7.0, 3.9)
    """
    h = leverage[leverage > 0]
    if len(h) < 2:
        return 1.0
    adjusted = h**2 / (1 - h)
    return round(1 / (fsum(h**2) + fsum(adjusted) ** 2 - fsum(adjusted**2)), 9)


def _numbered(digests: bytes) -> tuple[npt.NDArray[np.int64], int]:
    """Indices of digests, equal for equal ones, and the number of distinct ones."""
    if not digests:
        return np.zeros(0, np.int64), 0
    halves = np.frombuffer(digests, np.uint64).reshape(-1, 2)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    ordered = halves[order]
    another = np.any(ordered[1:] != ordered[:-1], axis=1)
    numbers = np.empty(len(halves), np.int64)
    numbers[order] = np.concatenate(([0], np.cumsum(another)))
    return numbers, int(another.sum()) + 1


def product(points: Iterable[float | None]) -> float | None:
    """Multiply points; None if any is unscored.

    >>> product([1.0, 0.5]), product([1.0, None])
    (0.5, None)
    """
    values = list(points)
    scored = [p for p in values if p is not None]
    return prod(scored) if len(scored) == len(values) else None


def around(
    value: float, spread: Mapping[str, float], top: float, freedom: float
) -> tuple[float, float]:
    """95 % interval of a metric in [0, ``top``] that is not a mean of points, by the delta method.

    NaN for fewer than two clusters, and without a top if no cluster moves the metric.

    Args:
        value: The metric.
        spread: Influence of each cluster on the metric; the sum is 0.
        top: Maximum of the metric; inf if unbounded.
        freedom: Degrees of freedom of the spread.
    """
    n = len(spread)
    observed = fsum(part * part for part in spread.values()) * n / max(1, n - 1)
    if n < 2 or freedom < 1 or (top == inf and observed < _MIN_VARIANCE):
        return nan, nan
    if top == inf:
        half = approximate_t_quantile(freedom) * sqrt(observed)
        return max(0.0, value - half), value + half
    share, observed = min(1.0, max(0.0, value / top)), observed / top**2
    units = float(n)
    if observed >= _MIN_VARIANCE and 0 < share < 1:
        units = share * (1 - share) / _variance(share, observed, 1 / n, n)
        moves = np.fromiter(spread.values(), float, n)
        freedom = max(freedom, _variance_freedom(moves, np.full(n, 1 / n)))
    low, high = _wilson(share, units, approximate_t_quantile(freedom))
    return top * low, top * high


def approximate_t_quantile(freedom: float) -> float:
    """97.5 % quantile of Student's t, within 1 % (Abramowitz and Stegun, 26.7.5).

    >>> round(approximate_t_quantile(10), 2), round(approximate_t_quantile(1e9), 2)
    (2.23, 1.96)
    """
    exact: dict[float, float] = {1: 12.706, 2: 4.303}
    if freedom < 3:  # where the series is too short
        return exact.get(freedom) or student_quantile(freedom)
    terms = (
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
    )
    return Z + sum(t / freedom**k for k, t in enumerate(terms, 1))


def _interval(value: float, found: ClusterInfluence, several: bool) -> tuple[float, float]:
    """Wilson's interval on effective units, with Student's quantile where the spread is estimated.

    If clusters of equal weight are all right or all wrong, the mean determines their variance. The
    closer clusters are to that, the closer the quantile is to the normal one
    (``_variance_freedom``). A tenth of an opposite cluster is added, because few clusters rarely
    show the full spread.
    """
    shares, moves = found.shares, found.moves
    n = len(moves)
    squares = fsum(shares**2)
    observed = fsum(moves**2)
    possible = value * (1 - value)
    if observed < _MIN_VARIANCE:  # no variation: each cluster counts as one unit, the least
        return _wilson(value, 1 / squares if several else float(n), Z)
    if found.settled:
        return _wilson(value, possible / observed, Z)
    variance = _variance(value, observed, squares, n) + found.lone * possible
    freedom = max(found.freedom, _variance_freedom(moves, shares))
    return _wilson(value, possible / variance, approximate_t_quantile(freedom))


def _variance_freedom(moves: Floats, shares: Floats) -> float:
    """Degrees of freedom of an estimated variance: twice its square over its own variance.

    That is the part of its variance which the mean does not determine: nothing for right-or-wrong
    units, as much as n - 2 degrees have for normal ones. It is (kurtosis - 1 - squared skewness)
    over n, never below 0 (Pearson, 1916); n is the effective number of squares. Few clusters
    determine these moments poorly, so two normally distributed ones are added.

    >>> moves = np.array([-0.6, -0.6, -0.6, 0.9, 0.9])
    >>> round(
    ...     _variance_freedom(moves, np.full(5, 0.2)), 1
    ... )  # as right or wrong: 2 * 3 / (2 * 2 / 7)
    10.5
    """
    weights, squares = shares**2 / fsum(shares**2), fsum(moves**2)
    n = 1 / fsum(weights**2)
    steps = moves / shares
    cubes, fourths = fsum(moves**2 * steps), fsum(moves**2 * steps**2)
    share_squares = fsum(shares**2)
    left = max(
        0.0, share_squares * fourths / squares**2 - 1 - share_squares * cubes**2 / squares**3
    )
    shrunk = (n * left + 2 * _PRIOR_CLUSTERS) / (n + _PRIOR_CLUSTERS)
    return max(0.0, 2 * (n - 2)) / shrunk


def _variance(value: float, shown: float, squares: float, n: int) -> float:
    """Variance over n clusters and a tenth of a cluster with the opposite result.

    ``squares`` is the sum of the squared shares of the clusters in the mean.
    """
    contrary = _OPPOSITE_CLUSTERS / min(value, 1 - value)
    added = contrary * value * (1 - value) * squares / (n - 1)
    return (shown + added) * n / (n + contrary)


def _wilson(value: float, n: float, quantile: float) -> tuple[float, float]:
    square = quantile**2
    centre = (value + square / (2 * n)) / (1 + square / n)
    spread = sqrt(max(0.0, value * (1 - value)) / n + square / (4 * n * n))
    half = quantile / (1 + square / n) * spread
    return max(0.0, min(value, centre - half)), min(1.0, max(value, centre + half))


def student_p(t: float, freedom: float) -> float:
    """Two-sided p-value of Student's t.

    >>> round(student_p(4.302653, 2), 4)
    0.05
    """
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


@cache
def student_quantile(freedom: float) -> float:
    """Quantile of Student's t for a two-sided interval of 95 %.

    >>> round(student_quantile(3), 4)
    3.1824
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))


def jackknife_interval(
    parts: Floats, clusters: Sequence[str], measure: Callable[[Floats], Floats], top: float
) -> tuple[float, float]:
    """95 % jackknife interval over clusters of a metric computed from sums.

    Efron and Tibshirani, *An Introduction to the Bootstrap*, 11.2, with the interval of
    ``around``. NaN for fewer than two clusters.

    Args:
        parts: Contribution of each unit, ``(n, k)``.
        clusters: Cluster of each unit.
        measure: Metric of rows of sums: ``(m, k)`` -> ``(m,)``.
        top: Maximum of the metric.
    """
    names, places = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    n = len(names)
    if n < 2:
        return nan, nan
    sums = np.zeros((n, parts.shape[1]))
    np.add.at(sums, places, parts)
    total = sums.sum(axis=0, keepdims=True)
    leave_one_out = measure(total - sums)
    moves = (n - 1) / n * (leave_one_out.mean() - leave_one_out)
    (value,) = measure(total)
    spread = dict(zip(names.tolist(), moves.tolist(), strict=True))
    freedom = satterthwaite_freedom(np.bincount(places) / len(places))
    return around(float(value), spread, top=top, freedom=freedom)
