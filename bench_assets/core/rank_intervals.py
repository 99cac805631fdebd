"""Which ranks of a leaderboard can be told apart: each model's lowest and highest possible one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import inf, isnan, sqrt
from statistics import NormalDist

from bench_assets.core.paired import holm
from bench_assets.core.standing import Standing
from bench_assets.core.stats import Z

_CHANCE = 0.05  # that any interval of a task misses its model's rank


def rank_intervals(
    intervals: Mapping[str, tuple[float, float, float]],
) -> dict[str, tuple[int, int]]:
    """The ranks that each model may have, higher values being better; all at once with 95 %.

    A model ranks below those that are better by more than chance, of all pairs together (Holm,
    1979), and above those that are worse. Two numbers are compared as of different questions:
    models that answered the same ones mostly differ more surely, so that intervals are rather too
    wide; a comparison of two, question by question, is sharper.

    Args:
        intervals: Model -> value, and the lower and the upper end of its 95 % interval.

    >>> rank_intervals({"a": (0.9, 0.88, 0.92), "b": (0.5, 0.4, 0.6), "c": (0.48, 0.4, 0.56)})
    {'a': (1, 1), 'b': (2, 3), 'c': (2, 3)}
    """
    pairs = list(combinations(intervals, 2))
    p_values = holm([_p(intervals[one], intervals[other]) for one, other in pairs])
    better = dict.fromkeys(intervals, 0)  # how many are better than it
    worse = dict.fromkeys(intervals, 0)
    for (one, other), p in zip(pairs, p_values, strict=True):
        if p < _CHANCE:
            first, last = sorted((one, other), key=lambda name: intervals[name][0])[::-1]
            worse[first] += 1
            better[last] += 1
    return {name: (1 + better[name], len(intervals) - worse[name]) for name in intervals}


def ranked(rows: Sequence[Standing]) -> list[Standing]:
    """Write the ranks that it may have to each line of a task that was measured whole.

    Among those of one edition and source; lines without an interval have no ranks.
    """
    groups: dict[tuple[str, str, str], list[Standing]] = defaultdict(list)
    for row in rows:
        if row.is_measured and not (row.n_failed or row.stale or isnan(row.value)):
            groups[row.task, row.edition, row.place].append(row)
    found: dict[int, str] = {}
    for group in groups.values():
        known = {row.model: row for row in group if row.low is not None and row.high is not None}
        of_all = rank_intervals(
            {name: (row.value, row.low or 0.0, row.high or 0.0) for name, row in known.items()}
        )
        found |= {
            id(row): f"{low}" if low == high else f"{low}-{high}"
            for name, row in known.items()
            for low, high in [of_all[name]]
            if len(known) > 1
        }
    return [replace(row, ranks=found.get(id(row), "")) for row in rows]


def _p(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """Two-sided, from the ends of the intervals that face each other."""
    (higher, low, _), (lower, _, high) = (one, other) if one[0] >= other[0] else (other, one)
    error = sqrt((higher - low) ** 2 + (high - lower) ** 2) / Z
    if isnan(error):
        return 1.0
    apart = (higher - lower) / error if error else (inf if higher > lower else 0.0)
    return 2 * (1 - NormalDist().cdf(apart))
