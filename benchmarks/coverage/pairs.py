"""Two models on the same questions: false alarms, intervals of the difference, power."""

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bench_assets.core.stats.means import Floats
from bench_assets.core.stats.paired_tests import (
    PairedScores,
    change_interval,
    change_variance,
    paired_t_test,
)
from bench_assets.core.stats.power import detection_power
from benchmarks.coverage.cells import Promise, Rng
from benchmarks.coverage.populations import EQUAL, UNEVEN, captions, chances, images, name

ALPHA = 0.05
POWER = 0.8
ALARMS = "two equal models are called different"
HELD = "the interval holds the true difference"
_ALIKE = 0.4  # of the questions, the second model does what the first one did
_MANY = 20_000  # questions whose spread stands for that of all there are

Draw: TypeAlias = Callable[[int, Rng, float], list[PairedScores]]
"""Pairs of two models on n questions, of which the second gains a share of what was missing."""


def promises() -> list[Promise]:
    """False alarms, intervals and power for every kind of metric."""
    return [
        *(
            Promise(what=ALARMS, of=name, trial=partial(_alarm, of.draw), low=3.5, high=6.5)
            for name, of in KINDS.items()
        ),
        *(
            Promise(
                what=ALARMS,
                of=of,
                trial=partial(_alarm, partial(of_uneven, sizes)),
                low=0,
                high=6.5,
            )
            for of, sizes in {**EQUAL, **UNEVEN}.items()
        ),
        Promise(
            what=ALARMS,
            of="11 to 13 very uneven images, each right or wrong as a whole",
            trial=partial(_alarm, _whole_images),
            low=0,
            high=6.5,
        ),
        *(
            Promise(
                what=HELD,
                of=of,
                trial=partial(_holds, Kind(partial(of_uneven, sizes), lambda: 0.4), 0.2),
                low=93.5,
                high=100,
            )
            for of, sizes in {**EQUAL, **UNEVEN}.items()
        ),
        *(
            Promise(what=HELD, of=name, trial=partial(_holds, of, 0.2), low=93.5, high=96.5)
            for name, of in KINDS.items()
        ),
    ]


def powers() -> list[Promise]:
    """A difference that is shown as often as was said before: 80 times in 100."""
    return [
        Promise(
            what="a difference is shown, predicted 80",
            of=name,
            trial=partial(_shown, of),
            low=77,
            high=83,
            sizes=(200, 2000),
        )
        for name, of in KINDS.items()
    ]


def _alarm(draw: Draw, n: int, rng: Rng) -> bool:
    return paired_t_test(draw(n, rng, 0.0)).p < ALPHA


def _holds(of: "Kind", gain: float, n: int, rng: Rng) -> bool:
    low, high = change_interval(of.draw(n, rng, gain))
    return low <= gain * of.missing() <= high


def _shown(of: "Kind", n: int, rng: Rng) -> bool:
    return paired_t_test(of.draw(n, rng, _gain_for(of, n))).p < ALPHA


@cache
def _gain_for(of: "Kind", n: int) -> float:
    """The gain that n questions should show 80 times in 100, found by halving."""
    low, high = 0.0, 1.0
    for _ in range(12):
        gain = (low + high) / 2
        seen = change_variance(of.draw(_MANY, np.random.default_rng(1), gain))
        shown = detection_power(seen, n, gain * of.missing())
        low, high = (low, gain) if shown > POWER else (gain, high)
    return high


def _right(rng: Rng, easy: Floats, gain: float, most: Floats) -> tuple[Floats, Floats]:
    """Points of two models of a question's points, the second mostly as the first."""
    whole = most.astype(int)
    before = rng.binomial(whole, easy).astype(float)
    after = np.where(rng.random(len(easy)) < _ALIKE, before, rng.binomial(whole, easy))
    after += rng.binomial((most - after).astype(int), gain)
    return before, after


def _pairs(
    before: Floats, after: Floats, of: npt.NDArray[np.int_], most: Floats
) -> list[PairedScores]:
    return list(
        map(PairedScores, before.tolist(), after.tolist(), map(name, of.tolist()), most.tolist())
    )


def _alone(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    of, most = np.arange(n), np.ones(n)
    return _pairs(*_right(rng, chances(rng, of, 0.6), gain, most), of, most)


def _of_images(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    of, most = images(n), np.ones(n)
    return _pairs(*_right(rng, chances(rng, of, 0.6), gain, most), of, most)


def of_uneven(
    sizes: Callable[[int], npt.NDArray[np.int_]], n: int, rng: Rng, gain: float
) -> list[PairedScores]:
    """The second model finds other images hard, half of them."""
    of, most = sizes(n), np.ones(n)
    easy = chances(rng, of, 0.6)
    other = np.where((rng.random(n) < 0.5)[of], easy, chances(rng, of, 0.6))
    before, after = rng.random(n) < easy, rng.random(n) < other
    after |= rng.random(n) < gain
    return _pairs(before.astype(float), after.astype(float), of, most)


def _whole_images(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    """Two to four images have most questions; all questions of an image change alike."""
    k, large = rng.integers(11, 14), rng.integers(2, 5)
    of = np.sort(np.concatenate([np.arange(n) % large, np.arange(large, k)]))
    change = rng.choice([-1, 0, 1], p=[0.4, 0.2, 0.4], size=k)[of]
    after = np.where(rng.random(len(of)) < gain, 1.0, change > 0)
    return _pairs((change < 0).astype(float), after, of, np.ones(len(of)))


def _in_between(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    of = images(n)
    easy = 0.02 + 0.96 * chances(rng, of, 0.6, 0.2)
    before, other = (rng.beta(4 * easy, 4 * (1 - easy)) for _ in range(2))
    after = np.where(rng.random(n) < _ALIKE, before, other)
    return _pairs(before, after + gain * (1 - after), of, np.ones(n))


def _over_points(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    of, most = images(n), rng.integers(1, 5, n).astype(float)
    return _pairs(*_right(rng, chances(rng, of, 0.6), gain, most), of, most)


def _macro(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    """Categories of a tenth to three tenths of the questions, which count the same."""
    sizes = (np.array([0.1, 0.15, 0.2, 0.25, 0.3]) * n).round().astype(int)
    found: list[PairedScores] = []
    for size, mean in zip(sizes.tolist(), (0.9, 0.7, 0.5, 0.6, 0.8), strict=True):
        of, share = images(size, 2), np.full(size, 1 / (len(sizes) * size))
        before, after = _right(rng, chances(rng, of, mean, 0.2), gain, np.ones(size))
        found += _pairs(before * share, after * share, of + n * len(found), share)
    return found


def _cider(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    every = captions()[:, 10]
    before, other = (every[rng.integers(0, len(every), n)] for _ in range(2))
    after = np.where(rng.random(n) < _ALIKE, before, other)
    return _pairs(before, after + gain * before, np.arange(n), np.ones(n))


class Kind(NamedTuple):
    """A kind of metric, on a population."""

    draw: Draw
    missing: Callable[[], float]
    """What the first model lacks of all points, exactly: the change is the gain times it."""


KINDS: dict[str, Kind] = {
    "right or wrong, independent": Kind(_alone, lambda: 0.4),
    "right or wrong, images of 1 to 3": Kind(_of_images, lambda: 0.4),
    "points in between": Kind(_in_between, lambda: 1 - (0.02 + 0.96 * 0.6)),
    "points over points, 1 to 4 a question": Kind(_over_points, lambda: 0.4),
    "macro average over five categories": Kind(_macro, lambda: 0.3),
    "CIDEr": Kind(_cider, lambda: float(captions()[:, 10].mean())),
}
