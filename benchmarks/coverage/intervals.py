"""Whether 95 % intervals contain the true value in 95 of 100 samples."""

from collections.abc import Callable
from functools import partial

import numpy as np

from bench_assets.core.metrics.captions import bleu_of
from bench_assets.core.stats.means import (
    Floats,
    Mean,
    ScoredPoint,
    jackknife_interval,
    macro_mean,
    mean,
)
from benchmarks.coverage.populations import (
    CORRELATION,
    EQUAL,
    UNEVEN,
    AssignImages,
    Images,
    cyclic,
    draw_chances,
    effective_number,
    image_name,
    score_random_captions,
    to_points,
)
from benchmarks.coverage.promise import SIZES, Promise, Rng, Trial

EVENT = "the interval contains the true value"
FEW_IMAGES = 25.0  # effective images; with fewer, intervals may be too wide
_TWENTY = EQUAL["twenty images"]
_CATEGORY_MEANS = (0.9, 0.7, 0.5, 0.6, 0.8)  # true values of a macro average's categories


def promises() -> list[Promise]:
    """List the promises of each kind of interval."""
    rows: list[tuple[str, Trial, AssignImages]] = [
        ("right or wrong, images of 1 to 3", _binary(0.6), cyclic),
        ("nine of ten right, images of 1 to 3", _binary(0.9), cyclic),
        ("nine of ten right, twenty images", _binary(0.9, _TWENTY), _TWENTY),
        ("right or wrong, independent", _independent, np.arange),
        ("points in between", _fractional, np.arange),
        ("points over points, 1 to 4 a question", _several_points, np.arange),
        ("five draws a question", _five_draws, np.arange),
        ("a part that differs from model to model", _part, cyclic),
        ("macro average over five categories", _macro, cyclic),
    ]
    for population, assign in {**EQUAL, **UNEVEN}.items():
        rows.append((population, _binary(0.6, assign), assign))
    for population, assign in UNEVEN.items():
        for truth in (0.6, 0.9):
            trial = _binary(truth, assign, correlation=0.7)
            rows.append((f"{population}, {truth} right, correlation 0.7", trial, assign))
    for metric, (measure, maximum) in _CORPUS_METRICS.items():
        rows.append((f"{metric} of a corpus", partial(_corpus, measure, maximum), np.arange))
    return [promise for row in rows for promise in _split_by_bounds(*row)]


def _split_by_bounds(population: str, trial: Trial, assign: AssignImages) -> list[Promise]:
    """Make a promise for each pair of bounds, with the sizes that have these bounds."""
    sizes_by_bounds: dict[tuple[float, float], list[int]] = {}
    for size in SIZES:
        sizes_by_bounds.setdefault(_find_bounds(population, assign(size)), []).append(size)
    return [
        Promise(event=EVENT, population=population, trial=trial, low=low, high=high, sizes=sizes)
        for (low, high), sizes in sizes_by_bounds.items()
    ]


def _find_bounds(population: str, images: Images) -> tuple[float, float]:
    if "beside singles" in population:
        return 93.5, 100
    return (93.5, 96.5) if effective_number(images) >= FEW_IMAGES else (93, 99)


def _contains(interval: Mean, truth: float) -> bool:
    return interval.low - 1e-12 <= truth <= interval.high + 1e-12


def _binary(truth: float, assign: AssignImages = cyclic, correlation: float = CORRELATION) -> Trial:
    def trial(n: int, rng: Rng) -> bool:
        images = assign(n)
        right = rng.random(n) < draw_chances(rng, images, truth, correlation)
        return _contains(mean(to_points(right, images)), truth)

    return trial


def _independent(n: int, rng: Rng) -> bool:
    return _contains(mean(map(ScoredPoint, (rng.random(n) < 0.6).astype(float).tolist())), 0.6)


def _fractional(n: int, rng: Rng) -> bool:
    images = cyclic(n)
    chances = 0.02 + 0.96 * draw_chances(rng, images, 0.6, 0.2)
    points = to_points(rng.beta(4 * chances, 4 * (1 - chances)), images)
    return _contains(mean(points), 0.02 + 0.96 * 0.6)


def _several_points(n: int, rng: Rng) -> bool:
    images = cyclic(n)
    maxima = rng.integers(1, 5, n)
    shares = rng.binomial(maxima, draw_chances(rng, images, 0.6)) / maxima
    names = map(image_name, images.tolist())
    points = map(ScoredPoint, shares.tolist(), names, maxima.astype(float).tolist())
    return _contains(mean(points), 0.6)


def _five_draws(n: int, rng: Rng) -> bool:
    questions = np.repeat(np.arange(n), 5)
    chances = draw_chances(rng, questions, 0.6, 0.4)
    return _contains(mean(to_points(rng.random(len(questions)) < chances, questions)), 0.6)


def _part(n: int, rng: Rng) -> bool:
    """A mean over a random part, such as false positives among wrong responses."""
    images = cyclic(n)
    is_in_part = rng.random(n) < 0.6
    right = rng.random(n) < draw_chances(rng, images, 0.6)
    return _contains(mean(to_points(right[is_in_part], images[is_in_part])), 0.6)


def _macro(n: int, rng: Rng) -> bool:
    sizes = np.array([0.1, 0.15, 0.2, 0.25, 0.3]) * n
    groups: list[list[ScoredPoint]] = []
    for size, truth in zip(sizes.round().astype(int).tolist(), _CATEGORY_MEANS, strict=True):
        images = cyclic(size, 2)
        right = rng.random(size) < draw_chances(rng, images, truth, 0.2)
        groups.append(to_points(right, images + n * len(groups)))
    return _contains(macro_mean(groups), sum(_CATEGORY_MEANS) / len(_CATEGORY_MEANS))


_CORPUS_METRICS: dict[str, tuple[Callable[[Floats], Floats], float]] = {
    "CIDEr": (lambda sums: sums[:, 10] / sums[:, 12], 10.0),
    "ROUGE-L": (lambda sums: sums[:, 11] / sums[:, 12], 1.0),
    "BLEU-4": (lambda sums: bleu_of(sums[:, :10])[:, 3], 1.0),
    "mean of BLEU-1 to BLEU-4": (lambda sums: bleu_of(sums[:, :10]).mean(axis=1), 1.0),
}
"""Metric -> function of the columns' sums, and its maximum."""


def _corpus(measure: Callable[[Floats], Floats], maximum: float, n: int, rng: Rng) -> bool:
    captions = score_random_captions()
    (truth,) = measure(captions.sum(axis=0, keepdims=True))
    sample = captions[rng.integers(0, len(captions), n)]
    names = [str(number) for number in range(n)]
    low, high = jackknife_interval(sample, names, measure, maximum)
    return bool(low <= truth <= high)
