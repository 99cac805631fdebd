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
from operator import mul
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

Z = 1.959963984540054
"""97.5 % quantile of the normal distribution: 95 % intervals."""

_OPPOSITE_CLUSTERS = 0.1  # share of a cluster with the opposite result that is added
_MODEL = 0.2  # weight of the variance by a common correlation, where clusters are uneven
_PRIOR_CLUSTERS = 2.0  # normally distributed clusters, added to the clusters
_MIN_VARIANCE = 1e-15  # rounding error of a variance
_ROUNDING = 1e-9  # rounding error of a weight
_BYTES = 16  # bytes of a cluster's digest


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
    lone_squares: float  # squared shares of groups that have only one cluster
    freedom: float  # Satterthwaite's degrees of freedom of the sum of squared moves
    is_settled: bool  # one group, whose clusters are each all right or all wrong and weigh the same


class _GroupInfluence(NamedTuple):
    """Influence of the clusters of one group on a mean over groups."""

    clusters: npt.NDArray[np.int64]  # their indices
    shares: Floats
    moves: Floats
    variance: float = 0.0  # of the group's mean, up to a factor that all groups have
    freedom: float = 0.0  # of this variance
    is_settled: bool = False  # whether clusters of equal weight are each all right or all wrong


def mean(points: Iterable[ScoredPoint]) -> Mean:
    """Average points in [0, 1]; NaN, not 0, if there are none.

    The interval is Wilson's, on the effective number of units: the number that would give the
    cluster-robust variance of the mean if they were independent (Korn and Graubard, 1998). It
    stays inside [0, 1] and does not collapse when all units agree.

    >>> mean([ScoredPoint(1.0, "a"), ScoredPoint(0.0, "b"), ScoredPoint(None, "c")]).value
    0.5
    """
    return macro_mean([points])


def share_interval(value: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of n independent units.

    >>> [round(end, 3) for end in share_interval(0.5, 10)]
    [0.237, 0.763]
    """
    return _wilson(value, n, Z)


def macro_mean(groups: Iterable[Iterable[ScoredPoint]]) -> Mean:
    """Average the means of groups, each group counting the same.

    NaN without groups, or if one has no scored points. The interval is that of ``mean``, with the
    variance of a stratified sample, which excludes the variance between groups.

    >>> macro_mean([[ScoredPoint(1.0), ScoredPoint(1.0)], [ScoredPoint(0.0)]]).value
    0.5
    """
    scored_groups = [_ScoredGroup(points, index) for index, points in enumerate(groups)]
    n_scored = sum(len(group.values) for group in scored_groups)
    n_unscored = sum(group.n_unscored for group in scored_groups)
    if not scored_groups or not all(group.weight for group in scored_groups):
        return Mean(value=nan, low=nan, high=nan, n_scored=n_scored, n_unscored=n_unscored)
    value = fsum(group.mean for group in scored_groups) / len(scored_groups)
    influence = _cluster_influence(scored_groups)
    low, high = _mean_interval(value, influence, has_groups=len(scored_groups) > 1)
    return Mean(
        value=value,
        low=low,
        high=high,
        n_scored=n_scored,
        n_unscored=n_unscored,
        n_clusters=1 / fsum(influence.shares**2),
        largest_cluster=float(influence.shares.max()),
    )


class _ScoredGroup:
    """The scored points of one group, as columns; its weight and mean, NaN without weight."""

    def __init__(self, points: Iterable[ScoredPoint], index: int) -> None:
        self.values, self.weights = array("d"), array("d")
        self.clusters = bytearray()  # a digest each
        self.n_unscored = 0
        for value, cluster, weight in points:
            if value is None:
                self.n_unscored += 1
                continue
            name = cluster or f"group {index} {len(self.values)}"
            self.clusters += _digest(name)
            self.values.append(value)
            self.weights.append(weight)
        self.weight = fsum(self.weights)
        weighted_sum = fsum(map(mul, self.values, self.weights))
        self.mean = weighted_sum / self.weight if self.weight else nan


@lru_cache(8192)  # every metric has the same clusters
def _digest(cluster: str) -> bytes:
    return blake2b(cluster.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()


def _cluster_influence(groups: Sequence[_ScoredGroup]) -> ClusterInfluence:
    """Influence of the clusters of all groups on the mean of their means."""
    indices, n_clusters = _index_digests(b"".join(group.clusters for group in groups))
    starts = np.cumsum([len(group.values) for group in groups])[:-1]
    influences = [
        _group_influence(group, unit_clusters, len(groups))
        for group, unit_clusters in zip(groups, np.split(indices, starts), strict=True)
    ]
    shares, moves, estimated_shares = np.zeros((3, n_clusters))
    for influence in influences:
        shares[influence.clusters] += influence.shares
    estimated = [influence for influence in influences if len(influence.clusters) > 1]
    for influence in estimated:
        moves[influence.clusters] += influence.moves
        estimated_shares[influence.clusters] += influence.shares
    lone = [influence.shares for influence in influences if len(influence.clusters) == 1]
    positive = shares > 0
    return ClusterInfluence(
        shares=shares[positive],
        moves=moves[positive],
        lone_squares=sum(float(share**2) for (share,) in lone),
        freedom=_freedom_of_groups(estimated, estimated_shares) if estimated else 1.0,
        is_settled=len(groups) == 1 and influences[0].is_settled,
    )


def _group_influence(
    group: _ScoredGroup, unit_clusters: npt.NDArray[np.int64], n_groups: int
) -> _GroupInfluence:
    """Influence of the clusters of one group; a lone cluster equals the mean and does not move."""
    weights = np.frombuffer(group.weights)
    cluster_weights = _cluster_sums(weights, unit_clusters)
    (present,) = cluster_weights.nonzero()
    cluster_weights = cluster_weights[present]
    total = group.weight * n_groups
    shares = cluster_weights / total
    if len(present) == 1:
        return _GroupInfluence(clusters=present, shares=shares, moves=np.zeros(1))
    points = _cluster_sums(weights * np.frombuffer(group.values), unit_clusters)[present]
    leverage = cluster_weights / group.weight
    is_even = bool(cluster_weights.max() - cluster_weights.min() < _ROUNDING)
    moves = (points - group.mean * cluster_weights) / total / np.sqrt(1 - leverage)
    if not is_even:
        moves *= _variance_factor(group, unit_clusters, present, moves * n_groups)
    opposite_points = np.minimum(points, cluster_weights - points)
    return _GroupInfluence(
        clusters=present,
        shares=shares,
        moves=moves,
        variance=1 / (total * n_groups),
        freedom=_mixed_freedom(leverage, is_even=is_even),
        is_settled=is_even and bool(np.all(opposite_points < _ROUNDING)),
    )


def _freedom_of_groups(groups: Sequence[_GroupInfluence], shares: Floats) -> float:
    """Degrees of freedom of the summed variances of groups; at most those of all clusters."""
    total = fsum(group.variance for group in groups)
    squares = fsum(group.variance**2 / group.freedom for group in groups)
    return min(total**2 / squares, _mixed_freedom(shares / fsum(shares), is_even=False))


def _cluster_sums(values: Floats, unit_clusters: npt.NDArray[np.int64]) -> Floats:
    """Sum of the values of each cluster, added one after the other, in their order."""
    sums = np.zeros(int(unit_clusters.max()) + 1)
    np.add.at(sums, unit_clusters, values)
    return sums


def _variance_factor(
    group: _ScoredGroup,
    unit_clusters: npt.NDArray[np.int64],
    present: npt.NDArray[np.int64],
    moves: Floats,
) -> float:
    """Factor of the moves of uneven clusters that mixes their variance with that of a model.

    In the model all units have one variance, and two of a cluster one correlation, which the
    variances within and between clusters give (Fuller and Battese, 1973).
    """
    weights, values = np.frombuffer(group.weights), np.frombuffer(group.values)
    cluster_weights = _cluster_sums(weights, unit_clusters)[present]
    squared_weights = _cluster_sums(weights**2, unit_clusters)[present]
    points = _cluster_sums(weights * values, unit_clusters)[present]
    squared_points = _cluster_sums(weights * values**2, unit_clusters)[present]
    total = fsum(cluster_weights)
    shares, n_effective = cluster_weights / total, cluster_weights**2 / squared_weights
    inner_squares = fsum(np.maximum(0.0, squared_points - points**2 / cluster_weights)) / total
    repetition = 1 - 1 / n_effective
    mean_repetition = fsum(shares * repetition)
    within = inner_squares / mean_repetition if mean_repetition > _ROUNDING else 0.0
    total_variance = fsum(squared_points) / total - (fsum(points) / total) ** 2
    unit_variance = (total_variance - within * fsum(shares**2 * repetition)) / (1 - fsum(shares**2))
    correlation = max(0.0, 1 - within / unit_variance) if unit_variance > _ROUNDING else 0.0
    modelled = unit_variance * fsum(shares**2 * (correlation + (1 - correlation) / n_effective))
    observed = fsum(moves**2)
    if observed > _MIN_VARIANCE and modelled > 0:
        return sqrt(1 - _MODEL + _MODEL * modelled / observed)
    return 1.0


def _mixed_freedom(leverage: Floats, *, is_even: bool) -> float:
    """Degrees of freedom of the mixed variance, of which only the CR2 part is uncertain."""
    freedom = satterthwaite_freedom(leverage)
    n = int(np.count_nonzero(leverage))
    return freedom if is_even else max(freedom, min(n - 1.0, freedom / (1 - _MODEL) ** 2))


def satterthwaite_freedom(leverage: Floats) -> float:
    """Satterthwaite's degrees of freedom of a CR2 variance of a mean.

    k - 1 for k clusters of equal weight; fewer if a cluster dominates.

    Args:
        leverage: Share of the weight that each cluster has; 0 for those left out.

    >>> satterthwaite_freedom(np.full(8, 1 / 8))
    7.0
    >>> round(satterthwaite_freedom(np.array([0.5, *[1 / 120] * 60])), 1)
    3.9
    """
    h = leverage[leverage > 0]
    if len(h) < 2:
        return 1.0
    adjusted = h**2 / (1 - h)
    return round(1 / (fsum(h**2) + fsum(adjusted) ** 2 - fsum(adjusted**2)), 9)


def _index_digests(digests: bytes) -> tuple[npt.NDArray[np.int64], int]:
    """Indices of digests (16 bytes each, one at least), equal for equal ones, and how many."""
    halves = np.frombuffer(digests, np.uint64).reshape(-1, 2)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    ordered = halves[order]
    is_new = np.any(ordered[1:] != ordered[:-1], axis=1)
    indices = np.empty(len(halves), np.int64)
    indices[order] = np.concatenate(([0], np.cumsum(is_new)))
    return indices, int(is_new.sum()) + 1


def product(points: Iterable[float | None]) -> float | None:
    """Multiply points; None if any is unscored.

    >>> product([1.0, 0.5]), product([1.0, None])
    (0.5, None)
    """
    values = list(points)
    scored = [p for p in values if p is not None]
    return prod(scored) if len(scored) == len(values) else None


def delta_method_interval(
    value: float, spread: Mapping[str, float], top: float, freedom: float
) -> tuple[float, float]:
    """95 % interval of a metric in [0, ``top``] that is not a mean of points, by the delta method.

    NaN for fewer than two clusters or a ``freedom`` below 1, and for an unbounded metric that no
    cluster moves.

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


def _mean_interval(
    value: float, influence: ClusterInfluence, *, has_groups: bool
) -> tuple[float, float]:
    """Wilson's interval on effective units, with Student's quantile where the spread is estimated.

    If clusters of equal weight are all right or all wrong, the mean determines their variance. The
    closer clusters are to that, the closer the quantile is to the normal one
    (``_variance_freedom``). A tenth of an opposite cluster is added, because few clusters rarely
    show the full spread.
    """
    shares, moves = influence.shares, influence.moves
    n = len(moves)
    squares = fsum(shares**2)
    observed = fsum(moves**2)
    possible = value * (1 - value)
    if observed < _MIN_VARIANCE:  # no variation: each cluster counts as one unit, the least
        return _wilson(value, 1 / squares if has_groups else float(n), Z)
    if influence.is_settled:
        return _wilson(value, possible / observed, Z)
    variance = _variance(value, observed, squares, n) + influence.lone_squares * possible
    freedom = max(influence.freedom, _variance_freedom(moves, shares))
    return _wilson(value, possible / variance, approximate_t_quantile(freedom))


def _variance_freedom(moves: Floats, shares: Floats) -> float:
    """Degrees of freedom of an estimated variance: twice its square over its own variance.

    Only the part of its own variance counts that the mean does not determine: kurtosis - 1 -
    squared skewness, at least 0 (Pearson, 1916). It is 0 for right-or-wrong units, and 2 for
    normally distributed ones, which have n - 2 degrees; n is the effective number of squares. Few
    clusters determine these moments poorly, so two normally distributed ones are added.

    >>> moves = np.array([-0.6, -0.6, -0.6, 0.9, 0.9])  # right or wrong: 2 * 3 / (2 * 2 / 7)
    >>> round(_variance_freedom(moves, np.full(5, 0.2)), 1)
    10.5
    """
    share_squares, squares = fsum(shares**2), fsum(moves**2)
    weights = shares**2 / share_squares
    n = 1 / fsum(weights**2)
    distances = moves / shares
    cubes, fourths = fsum(moves**2 * distances), fsum(moves**2 * distances**2)
    kurtosis = share_squares * fourths / squares**2
    squared_skewness = share_squares * cubes**2 / squares**3
    undetermined = max(0.0, kurtosis - 1 - squared_skewness)
    shrunk = (n * undetermined + 2 * _PRIOR_CLUSTERS) / (n + _PRIOR_CLUSTERS)
    return max(0.0, 2 * (n - 2)) / shrunk


def _variance(value: float, observed: float, squares: float, n: int) -> float:
    """Variance over n clusters and a tenth of a cluster with the opposite result.

    ``squares`` is the sum of the squared shares of the clusters in the mean.
    """
    opposite = _OPPOSITE_CLUSTERS / min(value, 1 - value)
    added = opposite * value * (1 - value) * squares / (n - 1)
    return (observed + added) * n / (n + opposite)


def _wilson(value: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval of a share of n units; it always contains the share."""
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
    ``delta_method_interval``. NaN for fewer than two clusters.

    Args:
        parts: Contribution of each unit, ``(n, k)``.
        clusters: Cluster of each unit.
        measure: Metric of rows of sums: ``(m, k)`` -> ``(m,)``.
        top: Maximum of the metric.
    """
    names, unit_clusters = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    n = len(names)
    if n < 2:
        return nan, nan
    sums = np.zeros((n, parts.shape[1]))
    np.add.at(sums, unit_clusters, parts)
    total = sums.sum(axis=0, keepdims=True)
    leave_one_out = measure(total - sums)
    moves = (n - 1) / n * (leave_one_out.mean() - leave_one_out)
    (value,) = measure(total)
    spread = dict(zip(names.tolist(), moves.tolist(), strict=True))
    freedom = satterthwaite_freedom(np.bincount(unit_clusters) / len(unit_clusters))
    return delta_method_interval(float(value), spread, top=top, freedom=freedom)
