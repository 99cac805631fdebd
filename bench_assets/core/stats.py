"""Means that say how many units they stand on and how far they can be trusted."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import nan, prod, sqrt
from typing import NamedTuple

_Z = 1.959963984540054  # 97.5 % quantile of the normal distribution: 95 % intervals


class Point(NamedTuple):
    """One unit of a mean: its value in [0, 1], None if unscored, and what it depends on."""

    value: float | None
    cluster: str = ""  # units of one cluster (the same picture, say) are not independent
    weight: float = 1.0


class Mean(NamedTuple):
    """A mean over the units that could be scored, with its 95 % interval."""

    value: float
    low: float
    high: float
    n_scored: int
    n_unscored: int


def mean(points: Iterable[Point]) -> Mean:
    """Average points in [0, 1]; NaN, not 0, if there are none.

    The interval is Wilson's, on the effective number of units: the number that would give the
    cluster-robust variance of the mean if they were independent (Korn and Graubard, 1998). It
    stays inside [0, 1] and does not collapse when all units agree.

    >>> mean([Point(1.0, "a"), Point(0.0, "b"), Point(None, "c")])[0::3]
    (0.5, 2)
    """
    seen = list(points)
    scored = [(p.value, p) for p in seen if p.value is not None]
    n_unscored = len(seen) - len(scored)
    total = sum(p.weight for _, p in scored)
    if total == 0:
        return Mean(nan, nan, nan, len(scored), n_unscored)
    value = sum(v * p.weight for v, p in scored) / total
    residuals: dict[str, float] = defaultdict(float)
    for number, (v, p) in enumerate(scored):
        residuals[p.cluster or f"unit {number}"] += p.weight * (v - value) / total
    low, high = _wilson(value, _effective_n(value, list(residuals.values())))
    return Mean(value, low, high, len(scored), n_unscored)


def macro_mean(groups: Iterable[Sequence[Point]]) -> Mean:
    """Average the means of groups, each group counting the same; NaN if any group is empty.

    >>> macro_mean([[Point(1.0), Point(1.0)], [Point(0.0)]]).value
    0.5
    """
    means = [mean(group) for group in groups]
    if not means:
        return Mean(nan, nan, nan, 0, 0)
    value = sum(m.value for m in means) / len(means)
    # Each group's interval is turned back into a standard error; groups are independent.
    se = sqrt(sum(((m.high - m.low) / (2 * _Z)) ** 2 for m in means)) / len(means)
    low, high = max(0.0, value - _Z * se), min(1.0, value + _Z * se)
    scored, unscored = sum(m.n_scored for m in means), sum(m.n_unscored for m in means)
    return Mean(value, low, high, scored, unscored)


def product(points: Iterable[float | None]) -> float | None:
    """Multiply points; None if any is unscored.

    >>> product([1.0, 0.5]), product([1.0, None])
    (0.5, None)
    """
    seen = list(points)
    scored = [p for p in seen if p is not None]
    return prod(scored) if len(scored) == len(seen) else None


def _effective_n(value: float, residuals: Sequence[float]) -> float:
    n_clusters = len(residuals)
    if n_clusters < 2:
        return float(n_clusters)
    variance = n_clusters / (n_clusters - 1) * sum(r * r for r in residuals)
    # No variation shows in the sample: count every cluster as one unit, which is the least.
    return value * (1 - value) / variance if variance > 0 else float(n_clusters)


def _wilson(value: float, n: float) -> tuple[float, float]:
    centre = (value + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * sqrt(max(0.0, value * (1 - value)) / n + _Z**2 / (4 * n * n))
    return max(0.0, min(value, centre - half)), min(1.0, max(value, centre + half))
