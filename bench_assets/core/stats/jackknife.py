"""Intervals for measures of a whole corpus, which are no means of its parts."""

from collections.abc import Callable, Sequence
from math import nan

import numpy as np
import numpy.typing as npt

from bench_assets.core.stats.means import around

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
