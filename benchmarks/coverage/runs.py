"""Comparisons of a run's checkpoints: how often one of equal models is ever called worse."""

from collections.abc import Sequence
from functools import partial

from bench_assets.core.stats.paired_tests import PairedScores, holm, mean_change, paired_t_test
from bench_assets.core.stats.power import comparison_alpha
from benchmarks.coverage.cells import Promise, Rng, Trial
from benchmarks.coverage.pairs import ALPHA, KINDS, Draw, of_uneven
from benchmarks.coverage.populations import UNEVEN

EVER = "an equal model is ever called worse"
_CHECKPOINTS = 20
_TASKS = _SLICES = 3
_alone = KINDS["right or wrong, independent"].draw


def promises() -> list[Promise]:
    """A run of twenty equal checkpoints."""
    return [
        _promise("twenty whole evaluations of a run, the budget of a run", _of_evaluations),
        _promise("twenty whole evaluations over lognormal images", _over_uneven),
        _promise("twenty whole evaluations of three tasks by category", _of_tasks),
        _promise("twenty whole evaluations, 5 % each: why not", _without_budget, 5, 100),
    ]


def _promise(of: str, trial: Trial, low: float = 0, high: float = 5) -> Promise:
    return Promise(what=EVER, of=of, trial=trial, low=low, high=high, sizes=(200,))


def _of_evaluations(n: int, rng: Rng) -> bool:
    return _any_worse(
        n, rng, [comparison_alpha(number, ALPHA) for number in range(1, _CHECKPOINTS + 1)]
    )


def _over_uneven(n: int, rng: Rng) -> bool:
    draw = partial(of_uneven, UNEVEN["lognormal image sizes"])
    return _any_worse(
        n, rng, [comparison_alpha(number, ALPHA) for number in range(1, _CHECKPOINTS + 1)], draw
    )


def _of_tasks(n: int, rng: Rng) -> bool:
    """Each step is checked on three tasks, which share its budget, over all and three slices."""
    return any(
        _fails(_alone(n, rng, 0.0), comparison_alpha(number, ALPHA) / _TASKS)
        for number in range(1, _CHECKPOINTS + 1)
        for _ in range(_TASKS)
    )


def _fails(pairs: list[PairedScores], alpha: float) -> bool:
    looked_at = [pairs, *(pairs[category::_SLICES] for category in range(_SLICES))]
    corrected = holm([paired_t_test(some).p for some in looked_at])
    return any(
        mean_change(some) < 0 and p < alpha for some, p in zip(looked_at, corrected, strict=True)
    )


def _without_budget(n: int, rng: Rng) -> bool:
    return _any_worse(n, rng, [ALPHA] * _CHECKPOINTS)


def _any_worse(n: int, rng: Rng, alphas: Sequence[float], draw: Draw = _alone) -> bool:
    runs = [draw(n, rng, 0.0) for _ in alphas]
    return any(
        mean_change(pairs) < 0 and paired_t_test(pairs).p < alpha
        for pairs, alpha in zip(runs, alphas, strict=True)
    )
