"""Verdicts that are looked at again and again: how often two equal models are ever called worse."""

from collections.abc import Sequence
from functools import partial

from bench_assets.core.stats.paired_tests import PairedScores, holm, mean_change, paired_t_test
from bench_assets.core.stats.power import comparison_alpha, sequential_p_value
from benchmarks.coverage.cells import Promise, Rng, Trial
from benchmarks.coverage.pairs import ALPHA, KINDS, Draw, of_uneven
from benchmarks.coverage.populations import UNEVEN

EVER = "an equal model is ever called worse"
_LOOKS = 20
_CHECKPOINTS = 20
_TASKS = _SLICES = 3
_alone = KINDS["right or wrong, independent"].draw


def promises() -> list[Promise]:
    """One model looked at twenty times while it answers; a run of twenty equal checkpoints."""
    return [
        _promise(EVER, "twenty looks at one model, by betting", _by_betting),
        _promise(EVER, "twenty checkpoints of a run, alpha spent in parts", _of_a_run),
        _promise(EVER, "twenty whole evaluations of a run, the budget of a run", _of_evaluations),
        _promise(EVER, "twenty whole evaluations over lognormal images", _over_uneven),
        _promise(EVER, "twenty whole evaluations of three tasks by category", _of_tasks),
        _promise(EVER, "twenty whole evaluations, 5 % each: why not", _without_budget, 5, 100),
        _promise(EVER, "twenty looks, the paired test each time: why not", _by_testing, 5, 100),
        _promise("a model that loses 0.2 is called worse", "betting", _finds, 80, 100),
    ]


def _promise(what: str, of: str, trial: Trial, low: float = 0, high: float = 5) -> Promise:
    return Promise(what=what, of=of, trial=trial, low=low, high=high, sizes=(200,))


def _gains(n: int, rng: Rng, loss: float = 0.0) -> list[float]:
    pairs = _alone(n, rng, 0.0)
    lost = rng.random(n) < loss
    return [-p.before if gone else p.after - p.before for p, gone in zip(pairs, lost, strict=True)]


def _by_betting(n: int, rng: Rng) -> bool:
    gains = _gains(n, rng)
    return any(sequential_p_value(gains[:seen]) < ALPHA for seen in _seen(n))


def _finds(n: int, rng: Rng) -> bool:
    return sequential_p_value(_gains(n, rng, loss=1 / 3)) < ALPHA  # of 0.6, a third


def _by_testing(n: int, rng: Rng) -> bool:
    pairs = _alone(n, rng, 0.0)
    return any(
        mean_change(pairs[:seen]) < 0 and paired_t_test(pairs[:seen]).p < ALPHA for seen in _seen(n)
    )


def _of_a_run(n: int, rng: Rng) -> bool:
    return any(
        sequential_p_value(_gains(n, rng)) < comparison_alpha(number, ALPHA)
        for number in range(1, _CHECKPOINTS + 1)
    )


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


def _seen(n: int) -> list[int]:
    return [n * look // _LOOKS for look in range(1, _LOOKS + 1)]
