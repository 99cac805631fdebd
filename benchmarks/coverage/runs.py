"""How often one of twenty checkpoints of equal quality is called worse than the one before it."""

from collections.abc import Sequence
from functools import partial

from bench_assets.core.stats.paired_tests import PairedScores, holm, mean_change, paired_t_test
from bench_assets.core.stats.power import comparison_alpha
from benchmarks.coverage.pairs import ALPHA, METRICS, DrawPairs, draw_uneven
from benchmarks.coverage.populations import UNEVEN
from benchmarks.coverage.promise import Promise, Rng, Trial

EVENT = "an equal model is ever called worse"
_N_COMPARISONS = 20
_N_TASKS = _N_CATEGORIES = 3
_BUDGET = [comparison_alpha(number, ALPHA) for number in range(1, _N_COMPARISONS + 1)]
_draw_independent = METRICS["right or wrong, independent"].draw
_draw_lognormal = partial(draw_uneven, UNEVEN["lognormal image sizes"])


def promises() -> list[Promise]:
    """List the promises of runs; the last one has no budget, to show why there is one."""
    one_task = partial(_any_is_worse, _draw_independent, _BUDGET)
    lognormal = partial(_any_is_worse, _draw_lognormal, _BUDGET)
    without_budget = partial(_any_is_worse, _draw_independent, [ALPHA] * _N_COMPARISONS)
    return [
        _promise("twenty whole evaluations of a run, the budget of a run", one_task),
        _promise("twenty whole evaluations over lognormal images", lognormal),
        _promise("twenty whole evaluations of three tasks by category", _any_category_is_worse),
        _promise("twenty whole evaluations, 5 % each: why not", without_budget, low=5, high=100),
    ]


def _promise(population: str, trial: Trial, low: float = 0, high: float = 5) -> Promise:
    return Promise(
        event=EVENT, population=population, trial=trial, low=low, high=high, sizes=(200,)
    )


def _any_is_worse(draw: DrawPairs, alphas: Sequence[float], n: int, rng: Rng) -> bool:
    comparisons = [draw(n, rng, 0.0) for _ in alphas]
    return any(
        mean_change(pairs) < 0 and paired_t_test(pairs) < alpha
        for pairs, alpha in zip(comparisons, alphas, strict=True)
    )


def _any_category_is_worse(n: int, rng: Rng) -> bool:
    """Each comparison divides its budget among three tasks."""
    return any(
        _task_is_worse(_draw_independent(n, rng, 0.0), alpha / _N_TASKS)
        for alpha in _BUDGET
        for _ in range(_N_TASKS)
    )


def _task_is_worse(pairs: list[PairedScores], alpha: float) -> bool:
    """Test the whole task and its three categories with Holm's correction."""
    subsets = [pairs, *(pairs[category::_N_CATEGORIES] for category in range(_N_CATEGORIES))]
    p_values = holm([paired_t_test(subset) for subset in subsets])
    return any(
        mean_change(subset) < 0 and p < alpha for subset, p in zip(subsets, p_values, strict=True)
    )
