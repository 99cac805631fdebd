"""A judge's mean corrected by people's verdicts on a sample: intervals, widths, tests."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench_assets.annotation.responses.draws import MIN_OF_STRATUM
from bench_assets.core.stats.corrected_means import (
    CheckedUnit,
    CorrectedMean,
    corrected_mean,
    difference_interval,
)
from bench_assets.core.stats.means import Floats, ScoredPoint, mean
from benchmarks.coverage.cells import Promise, Rng
from benchmarks.coverage.populations import chances, name

HELD = "the corrected interval holds the truth"
_CLUSTERED = 0.3  # correlation of right responses in a cluster
_ERRING = 0.2  # of the judge's errors in it
_CLEAR = 75  # effective clusters from which a width is promised

Images = npt.NDArray[np.int_]


class Population(NamedTuple):
    """Responses whose judge errs, and how many of them people judge."""

    sensitivity: float  # right responses that the judge calls right
    specificity: float  # wrong ones that it calls wrong
    sizes: Callable[[int], Images]  # the cluster of each of n units
    labels: int
    units: int
    right: float = 0.7


def _equal(size: int, n: int) -> Images:
    return np.arange(n) // size


def _up_to(most: int, n: int) -> Images:
    """Clusters of one to three, or of one to forty: drawn once, with the same sizes each time."""
    sizes = np.random.default_rng(0).integers(1, most + 1, n)
    return np.repeat(np.arange(n), sizes)[:n]


POPULATIONS = {
    ".90/.90, singles": Population(0.9, 0.9, partial(_equal, 1), 100, 1000),
    ".70/.70, singles": Population(0.7, 0.7, partial(_equal, 1), 30, 1000),
    ".99/.99, singles": Population(0.99, 0.99, partial(_equal, 1), 30, 3000),
    ".99/.70, clusters of 1 to 3": Population(0.99, 0.7, partial(_up_to, 3), 100, 1300),
    ".70/.99, clusters of 5": Population(0.7, 0.99, partial(_equal, 5), 60, 1500),
    ".95/.80, clusters of 1 to 40": Population(0.95, 0.8, partial(_up_to, 40), 200, 2000),
    ".90/.90, 75 clusters of 40": Population(0.9, 0.9, partial(_equal, 40), 400, 3000),
    ".95/.95, 90 % right, 30 clusters of 10": Population(
        0.95, 0.95, partial(_equal, 10), 30, 300, 0.9
    ),
    ".80/.90, 8 clusters of 40": Population(0.8, 0.9, partial(_equal, 40), 100, 300),
}
"""The nine populations, by sensitivity and specificity of the judge."""


class Responses(NamedTuple):
    """Responses of a model: whether they are right, and what the judge says."""

    right: npt.NDArray[np.bool_]
    judge: Floats
    clusters: Images


def promises() -> list[Promise]:
    """Everything that is said about judged numbers checked by people."""
    found = []
    for of, population in POPULATIONS.items():
        named = f"{of}, {population.labels} of {population.units} labelled"
        sizes = (population.units,)
        high = 97.0 if population.labels >= 200 else 100.0
        found.append(
            Promise(what=HELD, of=named, trial=partial(_holds, population), low=93.5, high=high,
                    sizes=sizes)
        )  # fmt: skip
        clusters = np.unique(population.sizes(population.units), return_counts=True)[1]
        if clusters.sum() ** 2 / (clusters @ clusters) >= _CLEAR:
            found.append(
                Promise(what="width, in % of that of people alone", of=named,
                        trial=partial(_width, population), low=0, high=105, sizes=sizes)
            )  # fmt: skip
    for labels, units, high in ((100, 1000, 135), (400, 3000, 110)):
        perfect = Population(1, 1, partial(_equal, 1), labels, units)
        found.append(
            Promise(what="width of a perfect judge, in % of that of the judge alone",
                    of=f"{labels} of {units} labelled", trial=partial(_perfect, perfect),
                    low=0, high=high, sizes=(units,))
        )  # fmt: skip
    for of in (".90/.90, singles", ".99/.70, clusters of 1 to 3", ".70/.99, clusters of 5"):
        population, sizes = POPULATIONS[of], (POPULATIONS[of].units,)
        found += [
            Promise(what="two equal models are called different", of=f"{of}, corrected",
                    trial=partial(_alarm, population), low=0, high=6.5, sizes=sizes),
            Promise(what=HELD, of=f"{of}, another judge on these labels",
                    trial=partial(_other_judge, population), low=93.5, high=100, sizes=sizes),
        ]  # fmt: skip
    return found


def _respond(of: Population, rng: Rng, clusters: Images | None = None) -> Responses:
    clusters = of.sizes(of.units) if clusters is None else clusters
    right = rng.random(of.units) < chances(rng, clusters, of.right, _CLUSTERED)
    return Responses(right, _judge(of, right, clusters, rng), clusters)


def _judge(of: Population, right: npt.NDArray[np.bool_], clusters: Images, rng: Rng) -> Floats:
    """Verdicts of a judge that errs together within a cluster."""
    says_right, says_wrong = (
        rng.random(of.units) < (chances(rng, clusters, share, _ERRING) if share < 1 else 1.0)
        for share in (of.sensitivity, of.specificity)
    )
    return np.where(right, says_right, ~says_wrong).astype(float)


def _draw(strata: npt.NDArray[np.int_], n: int, rng: Rng) -> Floats:
    """Probability of each drawn unit, 0 for the others: by Webster, five of each stratum."""
    names, numbers = np.unique(strata, return_inverse=True)
    sizes = np.bincount(numbers)
    drawn = np.minimum(sizes, MIN_OF_STRATUM)
    while drawn.sum() < min(n, len(strata)):
        drawn[np.argmax(np.where(drawn < sizes, sizes / (2 * drawn + 1), 0))] += 1
    probability = np.zeros(len(strata))
    for number in range(len(names)):
        chosen = rng.permutation(np.flatnonzero(numbers == number))[: drawn[number]]
        probability[chosen] = drawn[number] / sizes[number]
    return probability


def _correct(responses: Responses, probability: Floats) -> CorrectedMean:
    columns = zip(
        responses.judge.tolist(),
        responses.right.tolist(),
        probability.tolist(),
        map(name, responses.clusters.tolist()),
        strict=True,
    )
    return corrected_mean(
        [
            CheckedUnit(judge, float(right) if share else None, share or 1.0, cluster)
            for judge, right, share, cluster in columns
        ]
    )


def _sampled(of: Population, rng: Rng) -> tuple[Responses, CorrectedMean]:
    responses = _respond(of, rng)
    drawn = _draw(responses.judge.astype(int), of.labels, rng)
    return responses, _correct(responses, drawn)


def _holds(of: Population, _: int, rng: Rng) -> bool:
    found = _sampled(of, rng)[1]
    return found.low <= of.right <= found.high


def _points(values: npt.NDArray[np.bool_] | Floats, clusters: Images) -> list[ScoredPoint]:
    named = map(name, clusters.tolist())
    return list(map(ScoredPoint, values.astype(float).tolist(), named))


def _width(of: Population, _: int, rng: Rng) -> float:
    responses, found = _sampled(of, rng)
    chosen = rng.permutation(of.units)[: of.labels]
    alone = mean(_points(responses.right[chosen], responses.clusters[chosen]))
    return (found.high - found.low) / (alone.high - alone.low)


def _perfect(of: Population, _: int, rng: Rng) -> float:
    responses, found = _sampled(of, rng)
    alone = mean(_points(responses.judge, responses.clusters))
    return (found.high - found.low) / (alone.high - alone.low)


def _alarm(of: Population, _: int, rng: Rng) -> bool:
    """Labels on both models' responses to the same questions, by both verdicts."""
    clusters = of.sizes(of.units)
    sides = [_respond(of, rng, clusters) for _ in range(2)]
    verdicts = (2 * sides[0].judge + sides[1].judge).astype(int)
    drawn = _draw(verdicts, of.labels, rng)
    low, high = difference_interval(*(_correct(side, drawn) for side in sides))
    return not low <= 0 <= high


def _other_judge(of: Population, _: int, rng: Rng) -> bool:
    """Labels were drawn by the verdicts of one judge, and correct another."""
    responses = _respond(of, rng)
    drawn = _draw(responses.judge.astype(int), of.labels, rng)
    other = of._replace(sensitivity=of.specificity, specificity=of.sensitivity)
    verdicts = _judge(other, responses.right, responses.clusters, rng)
    found = _correct(responses._replace(judge=verdicts), drawn)
    return found.low <= of.right <= found.high
