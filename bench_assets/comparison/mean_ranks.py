"""Mean ranks over tasks with confidence intervals."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DRAWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRank:
    """One model's mean rank."""

    model: str
    mean: float  # 1 is best
    low: float | None  # 95 % interval over tasks; None of fewer than two
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanRanks:
    """Mean ranks, best first, and the tasks that they are over."""

    tasks: tuple[str, ...]
    ranks: tuple[MeanRank, ...]


def ranking(values: Mapping[str, Mapping[str, float]], rng: np.random.Generator) -> MeanRanks:
    """Rank models on every task, and average over the tasks that all of them have.

    Ranked are models with a number on more than half of the tasks: one that answers a single
    benchmark would leave nothing to average over. Models of equal value share the mean of their
    ranks. The interval is a bootstrap over tasks, the same draws for all models.

    Args:
        values: Task -> model -> value, higher is better.
        rng: Draws the tasks.
    """
    models = _ranked_models(values)
    tasks = tuple(task for task, has in values.items() if models and models <= has.keys())
    if not tasks:
        return MeanRanks(tasks=(), ranks=())
    order = sorted(models)
    ranks = np.array([ranks_of([values[task][model] for model in order]) for task in tasks])
    means = ranks.mean(axis=0)
    low, high = _interval(ranks, rng) if len(tasks) > 1 else (None, None)
    found = [
        MeanRank(
            model=model,
            mean=float(means[at]),
            low=None if low is None else float(low[at]),
            high=None if high is None else float(high[at]),
        )
        for at, model in enumerate(order)
    ]
    return MeanRanks(tasks=tasks, ranks=tuple(sorted(found, key=lambda one: one.mean)))


def ranks_of(values: Sequence[float]) -> list[float]:
    """Rank values, highest first; equal ones share the mean of their places.

    >>> ranks_of([0.5, 0.9, 0.5])
    [2.5, 1.0, 2.5]
    """
    ordered = sorted(values)
    places = [(bisect_left(ordered, value), bisect_right(ordered, value)) for value in values]
    return [1 + len(ordered) - (first + behind + 1) / 2 for first, behind in places]


def _ranked_models(values: Mapping[str, Mapping[str, float]]) -> set[str]:
    every = {model for has in values.values() for model in has}
    return {one for one in every if 2 * sum(one in has for has in values.values()) > len(values)}


def _interval(
    ranks: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw tasks with replacement; ``ranks`` has a row for each task, a column for each model."""
    n = len(ranks)
    drawn = rng.multinomial(n, [1 / n] * n, size=DRAWS) @ ranks / n
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0, method="inverted_cdf")
    return low, high
