"""Comparisons of two models on the same questions: false alarms, intervals, power."""

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple, TypeAlias

import numpy as np

from bench_assets.core.stats.means import Floats
from bench_assets.core.stats.paired_tests import (
    PairedScores,
    change_interval,
    change_variance,
    paired_t_test,
)
from bench_assets.core.stats.power import detection_power
from benchmarks.coverage.populations import (
    EQUAL,
    UNEVEN,
    AssignImages,
    Images,
    cyclic,
    draw_chances,
    image_name,
    score_random_captions,
)
from benchmarks.coverage.promise import Promise, Rng

ALPHA = 0.05
POWER = 0.8
FALSE_ALARM = "two equal models are called different"
CONTAINS_DIFFERENCE = "the interval contains the true difference"
_SHARE_OF_EQUAL_RESPONSES = 0.4
_N_FOR_VARIANCE = 20_000  # questions whose variance counts as that of the population

DrawPairs: TypeAlias = Callable[[int, Rng, float], list[PairedScores]]
"""Draws n pairs of scores; the second model gains a share of the points that it would miss."""


class Metric(NamedTuple):
    """A kind of metric with its population."""

    draw: DrawPairs
    get_missing: Callable[[], float]
    """Share of points that the first model misses: the true difference is the gain times it."""


def promises() -> list[Promise]:
    """List false alarms and intervals of each kind of metric and of few or uneven images."""
    images = {**EQUAL, **UNEVEN}
    whole_images = "11 to 13 very uneven images, each right or wrong as a whole"
    return [
        *(_false_alarm(name, metric.draw, low=3.5) for name, metric in METRICS.items()),
        *(_false_alarm(name, partial(draw_uneven, assign)) for name, assign in images.items()),
        _false_alarm(whole_images, _draw_whole_images),
        *(
            _interval(name, Metric(partial(draw_uneven, assign), lambda: 0.4), high=100)
            for name, assign in images.items()
        ),
        *(_interval(name, metric, high=96.5) for name, metric in METRICS.items()),
    ]


def _false_alarm(population: str, draw: DrawPairs, low: float = 0) -> Promise:
    trial = partial(_is_false_alarm, draw)
    return Promise(event=FALSE_ALARM, population=population, trial=trial, low=low, high=6.5)


def _interval(population: str, metric: Metric, high: float) -> Promise:
    trial = partial(_contains_difference, metric, 0.2)
    event = CONTAINS_DIFFERENCE
    return Promise(event=event, population=population, trial=trial, low=93.5, high=high)


def power_promises() -> list[Promise]:
    """List differences with a predicted power of 80 %, for each kind of metric."""
    return [
        Promise(
            event="a difference is detected, predicted 80",
            population=name,
            trial=partial(_is_detected, metric),
            low=77,
            high=83,
            sizes=(200, 2000),
        )
        for name, metric in METRICS.items()
    ]


def _is_false_alarm(draw: DrawPairs, n: int, rng: Rng) -> bool:
    return paired_t_test(draw(n, rng, 0.0)) < ALPHA


def _contains_difference(metric: Metric, gain: float, n: int, rng: Rng) -> bool:
    low, high = change_interval(metric.draw(n, rng, gain))
    return low <= gain * metric.get_missing() <= high


def _is_detected(metric: Metric, n: int, rng: Rng) -> bool:
    return paired_t_test(metric.draw(n, rng, _find_gain(metric, n))) < ALPHA


@cache
def _find_gain(metric: Metric, n: int) -> float:
    """Find the gain with a predicted power of 80 % on n questions, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(12):
        gain = (low + high) / 2
        variance = change_variance(metric.draw(_N_FOR_VARIANCE, np.random.default_rng(1), gain))
        if detection_power(variance, n, gain * metric.get_missing()) > POWER:
            high = gain
        else:
            low = gain
    return high


def _draw_points(rng: Rng, chances: Floats, gain: float, maxima: Floats) -> tuple[Floats, Floats]:
    """Draw both models' points; the second model often repeats the response of the first."""
    n_trials = maxima.astype(int)
    before = rng.binomial(n_trials, chances).astype(float)
    is_equal = rng.random(len(chances)) < _SHARE_OF_EQUAL_RESPONSES
    after = np.where(is_equal, before, rng.binomial(n_trials, chances))
    after += rng.binomial((maxima - after).astype(int), gain)
    return before, after


def _to_pairs(before: Floats, after: Floats, images: Images, maxima: Floats) -> list[PairedScores]:
    names = map(image_name, images.tolist())
    return list(map(PairedScores, before.tolist(), after.tolist(), names, maxima.tolist()))


def _draw_binary(assign: AssignImages, n: int, rng: Rng, gain: float) -> list[PairedScores]:
    images, maxima = assign(n), np.ones(n)
    before, after = _draw_points(rng, draw_chances(rng, images, 0.6), gain, maxima)
    return _to_pairs(before, after, images, maxima)


def draw_uneven(assign: AssignImages, n: int, rng: Rng, gain: float) -> list[PairedScores]:
    """Draw pairs for which half of the images have another difficulty for the second model."""
    images = assign(n)
    chances = draw_chances(rng, images, 0.6)
    is_equal = (rng.random(n) < 0.5)[images]
    chances_after = np.where(is_equal, chances, draw_chances(rng, images, 0.6))
    before, after = rng.random(n) < chances, rng.random(n) < chances_after
    after |= rng.random(n) < gain
    return _to_pairs(before.astype(float), after.astype(float), images, np.ones(n))


def _draw_whole_images(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    """Draw 11 to 13 images, two to four of them large, whose questions all change alike."""
    n_images, n_large = rng.integers(11, 14), rng.integers(2, 5)
    images = np.sort(np.concatenate([np.arange(n) % n_large, np.arange(n_large, n_images)]))
    changes = rng.choice([-1, 0, 1], p=[0.4, 0.2, 0.4], size=n_images)[images]
    after = np.where(rng.random(len(images)) < gain, 1.0, changes > 0)
    return _to_pairs((changes < 0).astype(float), after, images, np.ones(len(images)))


def _draw_fractional(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    images = cyclic(n)
    chances = 0.02 + 0.96 * draw_chances(rng, images, 0.6, 0.2)
    before, independent = (rng.beta(4 * chances, 4 * (1 - chances)) for _ in range(2))
    after = np.where(rng.random(n) < _SHARE_OF_EQUAL_RESPONSES, before, independent)
    return _to_pairs(before, after + gain * (1 - after), images, np.ones(n))


def _draw_several_points(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    images, maxima = cyclic(n), rng.integers(1, 5, n).astype(float)
    before, after = _draw_points(rng, draw_chances(rng, images, 0.6), gain, maxima)
    return _to_pairs(before, after, images, maxima)


def _draw_macro(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    """Draw five categories of equal weight, with a tenth to three tenths of the questions."""
    sizes = (np.array([0.1, 0.15, 0.2, 0.25, 0.3]) * n).round().astype(int)
    pairs: list[PairedScores] = []
    for size, mean in zip(sizes.tolist(), (0.9, 0.7, 0.5, 0.6, 0.8), strict=True):
        images, weights = cyclic(size, 2), np.full(size, 1 / (len(sizes) * size))
        chances = draw_chances(rng, images, mean, 0.2)
        before, after = _draw_points(rng, chances, gain, np.ones(size))
        images = images + n * len(pairs)
        pairs += _to_pairs(before * weights, after * weights, images, weights)
    return pairs


def _draw_cider(n: int, rng: Rng, gain: float) -> list[PairedScores]:
    scores = score_random_captions()[:, 10]
    before, independent = (scores[rng.integers(0, len(scores), n)] for _ in range(2))
    after = np.where(rng.random(n) < _SHARE_OF_EQUAL_RESPONSES, before, independent)
    return _to_pairs(before, after + gain * before, np.arange(n), np.ones(n))


METRICS: dict[str, Metric] = {
    "right or wrong, independent": Metric(partial(_draw_binary, np.arange), lambda: 0.4),
    "right or wrong, images of 1 to 3": Metric(partial(_draw_binary, cyclic), lambda: 0.4),
    "points in between": Metric(_draw_fractional, lambda: 1 - (0.02 + 0.96 * 0.6)),
    "points over points, 1 to 4 a question": Metric(_draw_several_points, lambda: 0.4),
    "macro average over five categories": Metric(_draw_macro, lambda: 0.3),
    "CIDEr": Metric(_draw_cider, lambda: float(score_random_captions()[:, 10].mean())),
}
