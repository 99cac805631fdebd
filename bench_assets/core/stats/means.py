"""Means with confidence intervals and effective sample sizes; jackknife; Student's t.

How often each interval holds the true value was tried: docs/statistics.md, ``make coverage``.
Sums over points and clusters are rounded once: points in another order have the same mean, to the
last digit, on any machine.

Student's t: its p-values, and the quantile of a 95 % interval.

Intervals for measures of a whole corpus, which are no means of its parts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import chain, islice
from math import fsum, inf, nan, prod, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench_assets.core.stats.clustered_means import ManyPoints, Moves, moves_of, moves_of_many

Z = 1.959963984540054
"""97.5 % quantile of the normal distribution: 95 % intervals."""

_CONTRARY = 0.1  # of a cluster that goes the other way, which is added to those that were seen
_SPREADS_NORMALLY = 2.0  # clusters that are taken to, beside those that were seen
_NOTHING = 1e-15  # what rounding leaves of no variance

MANY = 32_768
"""Points, and clusters, that are objects each; of more, see ``clusters``."""


class ScoredPoint(NamedTuple):
    """One unit of a mean: its value in [0, 1], None if unscored, and what it depends on."""

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


def mean(points: Iterable[ScoredPoint]) -> Mean:
    """Average points in [0, 1]; NaN, not 0, if there are none.

    The interval is Wilson's, on the effective number of units: the number that would give the
    cluster-robust variance of the mean if they were independent (Korn and Graubard, 1998). It
    stays inside [0, 1] and does not collapse when all units agree.

    >>> mean([ScoredPoint(1.0, "a"), ScoredPoint(0.0, "b"), ScoredPoint(None, "c")])[0::3]
    (0.5, 2)
    """
    rest = iter(points)
    few = list(islice(rest, MANY + 1))
    return macro_mean([few]) if len(few) <= MANY else _of_many([chain(few, rest)])


def share_interval(value: float, n: int) -> tuple[float, float]:
    """The 95 % interval of a share of n independent units, by Wilson.

    >>> [round(end, 3) for end in share_interval(0.5, 10)]
    [0.237, 0.763]
    """
    return _wilson(value, n, Z)


def macro_mean(groups: Iterable[Sequence[ScoredPoint]]) -> Mean:
    """Average the means of groups, each group counting the same; NaN if any group is empty.

    The interval is that of ``mean``, with the variance of a stratified sample: what spreads
    between groups says nothing about how sure their mean is.

    >>> macro_mean([[ScoredPoint(1.0), ScoredPoint(1.0)], [ScoredPoint(0.0)]]).value
    0.5
    """
    parts = list(groups)
    if sum(map(len, parts)) > MANY:
        return _of_many(parts)
    given = [
        [(p.value, p.cluster, p.weight) for p in part if p.value is not None] for part in parts
    ]
    n_scored = sum(map(len, given))
    n_unscored = sum(map(len, parts)) - n_scored
    totals = [fsum(weight for _, _, weight in part) for part in given]
    sums = [fsum(v * weight for v, _, weight in part) for part in given]
    return _of_groups(sums, totals, partial(moves_of, given), n_scored, n_unscored)


def _of_many(groups: Sequence[Iterable[ScoredPoint]]) -> Mean:
    """Do as ``macro_mean`` does, without an object for each point and cluster."""
    given = [ManyPoints(points, f"group {number} ") for number, points in enumerate(groups)]
    n_scored, n_unscored = sum(map(len, given)), sum(one.n_unscored for one in given)
    totals = [fsum(one.weights) for one in given]
    sums = [fsum(one.weighted()) for one in given]
    return _of_groups(sums, totals, partial(moves_of_many, given), n_scored, n_unscored)


def _of_groups(
    sums: Sequence[float],
    totals: Sequence[float],
    moves: Callable[[Sequence[float], Sequence[float]], Moves],  # by the groups' means and totals
    n_scored: int,
    n_unscored: int,
) -> Mean:
    if not totals or 0 in totals:
        return Mean(nan, nan, nan, n_scored, n_unscored)
    means = [of_group / total for of_group, total in zip(sums, totals, strict=True)]
    value = fsum(means) / len(means)
    found = moves(means, [total * len(means) for total in totals])
    return Mean(value, *_interval(value, found), n_scored, n_unscored)


def product(points: Iterable[float | None]) -> float | None:
    """Multiply points; None if any is unscored.

    >>> product([1.0, 0.5]), product([1.0, None])
    (0.5, None)
    """
    seen = list(points)
    scored = [p for p in seen if p is not None]
    return prod(scored) if len(scored) == len(seen) else None


def around(
    value: float, spread: Mapping[str, float], top: float, freedom: float
) -> tuple[float, float]:
    """The 95 % interval of a measure in [0, ``top``] that is no mean of points: by its derivative.

    Args:
        value: The measure.
        spread: By cluster, how far it alone moves the measure off; they add up to 0.
        top: The most there is; inf where there is no such thing.
        freedom: Of the spread: clusters, less what was estimated from them.
    """
    n = len(spread)
    if n < 2 or freedom < 1:
        return nan, nan
    shown = n / (n - 1) * fsum(part * part for part in spread.values())
    if top == inf:
        half = student(freedom) * sqrt(shown)
        return value - half, value + half
    share, shown = min(1.0, max(0.0, value / top)), shown / top**2
    units = float(n)
    if shown >= _NOTHING and 0 < share < 1:
        units = share * (1 - share) / _variance(share, shown, 1 / n, n)
        freedom = max(freedom, _worth(list(spread.values())))
    low, high = _wilson(share, units, student(freedom))
    return top * low, top * high


def student(freedom: float) -> float:
    """97.5 % quantile of Student's t, within 1 % (Abramowitz and Stegun, 26.7.5).

    >>> round(student(10), 2), round(student(1e9), 2)
    (2.23, 1.96)
    """
    terms = (
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
    )
    exact: dict[float, float] = {1: 12.706, 2: 4.303}  # where the series is too short
    return exact.get(freedom, Z + sum(t / freedom**k for k, t in enumerate(terms, 1)))


def _interval(value: float, found: Moves) -> tuple[float, float]:
    """Wilson's, on effective units; with Student's quantile where the spread is an estimate.

    Of clusters that weigh the same and are each all right or all wrong it is none: the mean says
    how they spread; the nearer others come to that, the nearer is the quantile to the normal one,
    see ``_worth``. To these a tenth of one is added that goes the other way, because few
    clusters of many right answers seldom show how wrong one can be.
    """
    shares, moves = found.shares, found.moves
    n = len(moves)
    squares = fsum(share * share for share in shares)
    shown = fsum(move * move for move in moves)
    possible = value * (1 - value)
    if shown < _NOTHING:  # no variation: count every cluster as one unit, which is the least
        return _wilson(value, 1 / squares if found.several else float(n), Z)
    if found.settled:
        return _wilson(value, possible / shown, Z)
    variance = _variance(value, shown, squares, n) + found.lone * possible
    freedom = max(1, min(n - 1, found.freedom))
    return _wilson(value, possible / variance, student(max(freedom, _worth(moves))))


def _worth(moves: Sequence[float]) -> float:
    """Degrees of freedom that a spread is worth: twice its square over its variance.

    The variance is what is left of the squares' where the mean is known: of right-or-wrong units
    nothing, of normal ones as much as n - 2 degrees have. With kurtosis and squared skewness it is
    kurtosis - 1 - skewness, over n; never below 0 (Pearson, 1916). Few clusters tell little of
    these: two are added that spread normally.

    >>> round(_worth([-0.6, -0.6, -0.6, 0.9, 0.9]), 1)  # as right or wrong: 2 * 3 / (2 * 2 / 7)
    10.5
    """
    n = len(moves)
    squares, cubes, fourths = (fsum(move**power for move in moves) for power in (2, 3, 4))
    left = max(0.0, n * fourths / squares**2 - 1 - n * cubes**2 / squares**3)
    shrunk = (n * left + 2 * _SPREADS_NORMALLY) / (n + _SPREADS_NORMALLY)
    return 2 * (n - 2) / shrunk


def _variance(value: float, shown: float, squares: float, n: int) -> float:
    """The variance that n clusters show, and a tenth of one that goes the other way.

    ``squares``: of the clusters' shares of the mean, added up.
    """
    contrary = _CONTRARY / min(value, 1 - value)
    added = contrary * value * (1 - value) * squares / (n - 1)
    return (shown + added) * n / (n + contrary)


def _wilson(value: float, n: float, quantile: float) -> tuple[float, float]:
    square = quantile**2
    centre = (value + square / (2 * n)) / (1 + square / n)
    spread = sqrt(max(0.0, value * (1 - value)) / n + square / (4 * n * n))
    half = quantile / (1 + square / n) * spread
    return max(0.0, min(value, centre - half)), min(1.0, max(value, centre + half))


def student_p(t: float, freedom: int) -> float:
    """Two-sided p-value of Student's t.

    >>> round(student_p(4.302653, 2), 4)
    0.05
    """
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(t)))


@cache
def student_quantile(freedom: int) -> float:
    """97.5 % quantile of Student's t.

    >>> round(student_quantile(3), 4)
    3.1824
    """
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))


Floats = npt.NDArray[np.float64]


def interval(
    parts: Floats, clusters: Sequence[str], measure: Callable[[Floats], Floats], top: float
) -> tuple[float, float]:
    """The 95 % interval of a measure of sums, from what it is without each cluster in turn.

    The jackknife of Efron and Tibshirani, *An Introduction to the Bootstrap*, 11.2, whose error is
    taken as that of a mean is, see ``stats.around``. NaN for fewer than two clusters.

    Args:
        parts: What each unit adds, ``(n, k)``.
        clusters: Of each unit.
        measure: Of sums of parts, a row a corpus: ``(m, k)`` -> ``(m,)``.
        top: The most that the measure can be.
    """
    names, places = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    n = len(names)
    if n < 2:
        return nan, nan
    sums = np.zeros((n, parts.shape[1]))
    np.add.at(sums, places, parts)
    total = sums.sum(axis=0, keepdims=True)
    without = measure(total - sums)
    moves = (n - 1) / n * (without.mean() - without)
    (value,) = measure(total)
    spread = dict(zip(names.tolist(), moves.tolist(), strict=True))
    return around(float(value), spread, top=top, freedom=n - 1)
