"""Rank intervals: lowest and highest plausible rank of each model."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb, erf, isnan, sqrt

import numpy as np
from numpy.typing import NDArray

from bench_assets.core.schema.metric_text import is_hidden, unread_bounds
from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.core.schema.signature import partial_part
from bench_assets.core.stats.means import Z

N_RESAMPLES = 2_000  # resamples of the tasks
_ALPHA = 0.05  # probability that any interval of a task misses its model's rank
_MIN_Z = 1.9  # standard errors; below, p is above ``_ALPHA``
_CERTAIN_Z = 8.5  # standard errors; above, p rounds to 0


def rank_intervals(
    intervals: Mapping[str, tuple[float, float, float]],
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> dict[str, tuple[int, int]]:
    """Simultaneous 95 % intervals of ranks; higher values are better.

    A model ranks below those that are significantly better, and above those that are significantly
    worse, over all pairs together (Holm, 1979). Values are compared as if from different questions,
    so intervals are conservative; paired comparisons of two models are sharper.

    Args:
        intervals: Value, lower and upper end of its 95 % interval, by model.
        bounds: What the values of some models may be, because responses are unread: such a model
            differs only from those whose bounds, or values, do not overlap with its own.

    >>> rank_intervals({"a": (0.9, 0.88, 0.92), "b": (0.5, 0.4, 0.6), "c": (0.48, 0.4, 0.56)})
    {'a': (1, 1), 'b': (2, 3), 'c': (2, 3)}
    """
    columns = np.array([*intervals.values()], float).reshape(len(intervals), 3).T
    best_first = np.argsort(-columns[0], kind="stable")
    models = list(intervals)
    ranked = [models[index] for index in best_first]
    differs = _differing(columns[:, best_first])
    if bounds:
        differs &= ~_overlapping(ranked, intervals, bounds)
    n_better, n_worse = differs.sum(axis=0).tolist(), differs.sum(axis=1).tolist()
    return {
        model: (1 + better, len(models) - worse)
        for model, better, worse in zip(ranked, n_better, n_worse, strict=True)
    }


def _overlapping(
    models: Sequence[str],
    intervals: Mapping[str, tuple[float, float, float]],
    bounds: Mapping[str, tuple[float, float]],
) -> NDArray[np.bool_]:
    """Pairs of which one has bounds that reach the other's bounds or value; ``(n, n)``."""
    points = {model: (value, value) for model, (value, _, _) in intervals.items()}
    low, high = np.array([bounds.get(model, points[model]) for model in models], float).T
    is_bounded = np.array([model in bounds for model in models])
    overlaps: NDArray[np.bool_] = (low[:, None] <= high) & (low <= high[:, None])
    return np.asarray(overlaps & (is_bounded[:, None] | is_bounded))


def add_rank_intervals(rows: Sequence[LeaderboardRow]) -> list[LeaderboardRow]:
    """Add rank intervals to the measured and complete rows of each task.

    Ranks are among rows of one edition and source; a row with many unread responses is ranked only
    against those that its bounds do not reach. Baselines, partial and stale rows and rows
    without an interval have none.
    """
    groups: dict[tuple[str, str, str], list[LeaderboardRow]] = defaultdict(list)
    for row in rows:
        doubtful = row.n_failed or partial_part(row.signature) or row.stale or isnan(row.value)
        if row.is_measured and not (doubtful or row.is_baseline):
            groups[row.task, row.edition, row.place].append(row)
    ranks_by_row: dict[int, str] = {}
    for group in groups.values():
        ranks_by_row |= _format_ranks(group)
    return [replace(row, ranks=ranks_by_row.get(id(row), "")) for row in rows]


def _format_ranks(rows: Sequence[LeaderboardRow]) -> dict[int, str]:
    """Format the rank intervals of compared rows, by Python's ``id`` of a row.

    A row without an interval has no rank. Of several rows of a model, only the last has one. A
    single model has none.
    """
    row_ids: dict[str, int] = {}
    intervals: dict[str, tuple[float, float, float]] = {}
    bounds: dict[str, tuple[float, float]] = {}
    for row in rows:
        if row.low is None or row.high is None:
            continue
        row_ids[row.model] = id(row)
        intervals[row.model] = (row.merit, *_as_merits(row, row.low, row.high))
        bounds.pop(row.model, None)  # of an earlier row of the model
        unread = unread_bounds(row)
        if is_hidden(row) and unread is not None:
            bounds[row.model] = _as_merits(row, *unread)
    if len(intervals) < 2:
        return {}
    return {
        row_ids[model]: f"{first}" if first == last else f"{first}-{last}"
        for model, (first, last) in rank_intervals(intervals, bounds).items()
    }


def _as_merits(row: LeaderboardRow, low: float, high: float) -> tuple[float, float]:
    """Convert the ends of an interval of values to those of merits, where higher is better."""
    return (-high, -low) if row.lower_is_better else (low, high)


def _differing(best_first: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Pairs that differ significantly, over all pairs together (Holm, 1979); ``(n, n)``.

    Two-sided, from the facing ends of the intervals.

    Args:
        best_first: Values, lower and upper ends, ``(3, n)``, by falling value.
    """
    value, low, high = best_first
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = value[:, None] - value
        error = np.sqrt(((value - low) ** 2)[:, None] + (high - value) ** 2) / Z
        z_scores = gap / error  # without any error inf, or NaN for equal values
    z_scores[np.tri(len(value), dtype=bool) | np.isnan(z_scores)] = 0.0  # each pair once
    differing: NDArray[np.bool_] = z_scores > _CERTAIN_Z
    better, worse = np.nonzero((z_scores > _MIN_Z) & ~differing)  # pairs that need a p-value
    p = 1 - np.fromiter(map(erf, (z_scores[better, worse] / sqrt(2)).tolist()), float)
    ordered = np.argsort(p, kind="stable")
    n_left = comb(len(value), 2) - int(differing.sum()) - np.arange(p.size)
    failures = np.flatnonzero(n_left * p[ordered] >= _ALPHA)
    significant = ordered[: failures[0] if failures.size else p.size]
    differing[better[significant], worse[significant]] = True
    return differing


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRank:
    """Mean rank of a model."""

    model: str
    mean: float  # 1 is best
    low: float | None  # 95 % interval over tasks; None for fewer than two
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRanks:
    """Mean ranks, best first, with their tasks."""

    tasks: tuple[str, ...]
    ranks: tuple[MeanRank, ...]


def rank_models(values: Mapping[str, Mapping[str, float]], rng: np.random.Generator) -> MeanRanks:
    """Rank models on every task, and average over their common tasks.

    Includes models with values on more than half of the tasks, since a model with one task would
    leave nothing to average over. Ties share the mean of their ranks. The interval is a bootstrap
    over tasks, with the same resamples for all models, and None for a single task.

    >>> values = {"t": {"a": 1, "b": 0}, "u": {"a": 0, "b": 1}}
    >>> ranking = rank_models(values, np.random.default_rng(0))
    >>> [(rank.model, rank.mean, rank.low, rank.high) for rank in ranking.ranks]
    [('a', 1.5, 1.0, 2.0), ('b', 1.5, 1.0, 2.0)]

    Args:
        values: Values by task and model; higher is better.
        rng: Source of the resamples.
    """
    n_tasks = Counter(model for task_values in values.values() for model in task_values)
    models = {model for model, n in n_tasks.items() if 2 * n > len(values)}
    tasks = tuple(task for task, task_values in values.items() if models <= task_values.keys())
    if not (models and tasks):
        return MeanRanks(tasks=(), ranks=())
    order = sorted(models)
    ranks = np.array([rank_values([values[task][model] for model in order]) for task in tasks])
    means = ranks.mean(axis=0)
    low, high = _bootstrap_intervals(ranks, rng) if len(tasks) > 1 else (None, None)
    mean_ranks = [
        MeanRank(
            model=model,
            mean=float(means[index]),
            low=None if low is None else float(low[index]),
            high=None if high is None else float(high[index]),
        )
        for index, model in enumerate(order)
    ]
    return MeanRanks(tasks=tasks, ranks=tuple(sorted(mean_ranks, key=lambda rank: rank.mean)))


def rank_values(values: Sequence[float]) -> list[float]:
    """Rank values, highest first; ties share the mean rank.

    >>> rank_values([0.5, 0.9, 0.5])
    [2.5, 1.0, 2.5]
    """
    ordered = sorted(values)
    ties = [(bisect_left(ordered, value), bisect_right(ordered, value)) for value in values]
    return [1 + len(ordered) - (start + stop + 1) / 2 for start, stop in ties]


def _bootstrap_intervals(
    ranks: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """95 % interval of each model's mean rank, over tasks; ``ranks`` is ``(tasks, models)``."""
    n = len(ranks)
    resampled = rng.multinomial(n, [1 / n] * n, size=N_RESAMPLES) @ ranks / n
    low, high = np.quantile(resampled, [0.025, 0.975], axis=0, method="inverted_cdf")
    return low, high
