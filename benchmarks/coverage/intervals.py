"""Whether 95 % intervals hold the truth of the population in 95 of 100 samples."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bench_assets.core.metrics.captions import bleu_of
from bench_assets.core.stats.means import (
    Floats,
    Mean,
    ScoredPoint,
    jackknife_interval,
    macro_mean,
    mean,
)
from benchmarks.coverage.cells import SIZES, Promise, Rng, Trial
from benchmarks.coverage.populations import (
    EQUAL,
    FEW,
    TOGETHER,
    UNEVEN,
    captions,
    chances,
    effective,
    images,
    name,
    points,
)

Images: TypeAlias = Callable[[int], npt.NDArray[np.int_]]  # of each of n questions

WHAT = "the interval holds the truth"
_TWENTY = EQUAL["twenty images"]
_KINDS = (0.9, 0.7, 0.5, 0.6, 0.8)  # how easy the categories of a macro average are


def promises() -> list[Promise]:
    """An interval of every kind that a table has."""
    return [
        *_promises("right or wrong, images of 1 to 3", _right(0.6), images),
        *_promises("nine of ten right, images of 1 to 3", _right(0.9), images),
        *_promises("nine of ten right, twenty images", _right(0.9, _TWENTY), _TWENTY),
        *_promises("right or wrong, independent", _alone),
        *_promises("points in between", _in_between),
        *_promises("points over points, 1 to 4 a question", _over_points),
        *_promises("five draws a question", _draws),
        *_promises("a part that differs from model to model", _of_a_part, images),
        *_promises("macro average over five categories", _macro, images),
        *(
            promise
            for of, images_of in {**EQUAL, **UNEVEN}.items()
            for promise in _promises(of, _right(0.6, images_of), images_of)
        ),
        *(
            promise
            for of, images_of in UNEVEN.items()
            for share, together in ((0.6, 0.7), (0.9, 0.7))
            for promise in _promises(
                f"{of}, {share} right, correlation {together}",
                _right(share, images_of, together),
                images_of,
            )
        ),
        *(
            promise
            for name, (measure, top) in _MEASURES.items()
            for promise in _promises(f"{name} of a corpus", _of_corpus(measure, top))
        ),
    ]


def _promises(of: str, trial: Trial, images_of: Images = np.arange) -> list[Promise]:
    """Of few images intervals may be too wide; and where one decides, which is its own estimate."""
    bounds = {size: _bounds(of, images_of(size)) for size in SIZES}
    return [
        Promise(what=WHAT, of=of, trial=trial, low=low, high=high, sizes=sizes)
        for low, high in dict.fromkeys(bounds.values())
        for sizes in [[size for size in SIZES if bounds[size] == (low, high)]]
    ]


def _bounds(of: str, images_of: npt.NDArray[np.int_]) -> tuple[float, float]:
    if "beside singles" in of:
        return 93.5, 100
    return (93.5, 96.5) if effective(images_of) >= FEW else (93, 99)


def _holds(found: Mean, truth: float) -> bool:
    return found.low - 1e-12 <= truth <= found.high + 1e-12


def _right(truth: float, images_of: Images = images, together: float = TOGETHER) -> Trial:
    def trial(n: int, rng: Rng) -> bool:
        of = images_of(n)
        right = rng.random(n) < chances(rng, of, truth, together)
        return _holds(mean(points(right, of)), truth)

    return trial


def _alone(n: int, rng: Rng) -> bool:
    return _holds(mean(map(ScoredPoint, (rng.random(n) < 0.6).astype(float).tolist())), 0.6)


def _in_between(n: int, rng: Rng) -> bool:
    of = images(n)
    easy = 0.02 + 0.96 * chances(rng, of, 0.6, 0.2)
    return _holds(mean(points(rng.beta(4 * easy, 4 * (1 - easy)), of)), 0.02 + 0.96 * 0.6)


def _over_points(n: int, rng: Rng) -> bool:
    of = images(n)
    most = rng.integers(1, 5, n)
    got = rng.binomial(most, chances(rng, of, 0.6))
    seen = map(
        ScoredPoint, (got / most).tolist(), map(name, of.tolist()), most.astype(float).tolist()
    )
    return _holds(mean(seen), 0.6)


def _draws(n: int, rng: Rng) -> bool:
    of = np.repeat(np.arange(n), 5)
    easy = chances(rng, of, 0.6, 0.4)
    return _holds(mean(points(rng.random(len(of)) < easy, of)), 0.6)


def _of_a_part(n: int, rng: Rng) -> bool:
    """As false positives among wrong responses: how many are in the part is chance as well."""
    of = images(n)
    part = rng.random(n) < 0.6
    right = rng.random(n) < chances(rng, of, 0.6)
    return _holds(mean(points(right[part], of[part])), 0.6)


def _macro(n: int, rng: Rng) -> bool:
    sizes = np.array([0.1, 0.15, 0.2, 0.25, 0.3]) * n
    groups: list[list[ScoredPoint]] = []
    for size, easy in zip(sizes.round().astype(int), _KINDS, strict=True):
        of = images(int(size), 2)
        right = rng.random(int(size)) < chances(rng, of, easy, 0.2)
        groups.append(points(right, of + n * len(groups)))
    return _holds(macro_mean(groups), sum(_KINDS) / len(_KINDS))


_MEASURES: dict[str, tuple[Callable[[Floats], Floats], float]] = {
    "CIDEr": (lambda sums: sums[:, 10] / sums[:, 12], 10.0),
    "ROUGE-L": (lambda sums: sums[:, 11] / sums[:, 12], 1.0),
    "BLEU-4": (lambda sums: bleu_of(sums[:, :10])[:, 3], 1.0),
    "mean of BLEU-1 to BLEU-4": (lambda sums: bleu_of(sums[:, :10]).mean(axis=1), 1.0),
}


def _of_corpus(measure: Callable[[Floats], Floats], top: float) -> Trial:
    def trial(n: int, rng: Rng) -> bool:
        every = captions()
        (truth,) = measure(every.sum(axis=0, keepdims=True))
        drawn = every[rng.integers(0, len(every), n)]
        low, high = jackknife_interval(drawn, [str(number) for number in range(n)], measure, top)
        return bool(low <= truth <= high)

    return trial
