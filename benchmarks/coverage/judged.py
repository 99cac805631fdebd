"""A judge's means corrected by people's labels of a sample: intervals, widths, comparisons."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from bench_assets.annotation.responses.draws import MIN_OF_STRATUM
from bench_assets.core.stats.corrected_means import (
    CheckedUnit,
    CorrectedMean,
    corrected_mean,
    difference_interval,
)
from bench_assets.core.stats.means import Floats, mean
from benchmarks.coverage.pairs import FALSE_ALARM
from benchmarks.coverage.populations import (
    AssignImages,
    Bools,
    Images,
    draw_chances,
    effective_number,
    image_name,
    to_points,
)
from benchmarks.coverage.promise import Promise, Rng

CONTAINS_TRUTH = "the corrected interval contains the true value"
_RESPONSE_CORRELATION = 0.3  # of right responses within a cluster
_ERROR_CORRELATION = 0.2  # of the judge's errors within a cluster
_MIN_FOR_WIDTH = 75  # effective clusters from which a width is promised


class Population(NamedTuple):
    """Responses, the judge's errors, and the number of responses that people label."""

    sensitivity: float  # share of right responses that the judge calls right
    specificity: float  # share of wrong responses that the judge calls wrong
    assign_clusters: AssignImages
    n_labels: int
    n_units: int
    accuracy: float = 0.7

    @property
    def labels(self) -> str:
        """How many units are labelled, as text."""
        return f"{self.n_labels} of {self.n_units} labelled"


PopulationTrial: TypeAlias = Callable[[Population, int, Rng], float]


def _equal(size: int, n: int) -> Images:
    return np.arange(n) // size


def _uniform(largest: int, n: int) -> Images:
    """Clusters of random sizes up to the largest, the same in each sample."""
    sizes = np.random.default_rng(0).integers(1, largest + 1, n)
    return np.repeat(np.arange(n), sizes)[:n]


POPULATIONS = {
    ".90/.90, singles": Population(0.9, 0.9, partial(_equal, 1), n_labels=100, n_units=1000),
    ".70/.70, singles": Population(0.7, 0.7, partial(_equal, 1), n_labels=30, n_units=1000),
    ".99/.99, singles": Population(0.99, 0.99, partial(_equal, 1), n_labels=30, n_units=3000),
    ".99/.70, clusters of 1 to 3": Population(
        0.99, 0.7, partial(_uniform, 3), n_labels=100, n_units=1300
    ),
    ".70/.99, clusters of 5": Population(0.7, 0.99, partial(_equal, 5), n_labels=60, n_units=1500),
    ".95/.80, clusters of 1 to 40": Population(
        0.95, 0.8, partial(_uniform, 40), n_labels=200, n_units=2000
    ),
    ".90/.90, 75 clusters of 40": Population(
        0.9, 0.9, partial(_equal, 40), n_labels=400, n_units=3000
    ),
    ".95/.95, 90 % right, 30 clusters of 10": Population(
        0.95, 0.95, partial(_equal, 10), n_labels=30, n_units=300, accuracy=0.9
    ),
    ".80/.90, 8 clusters of 40": Population(
        0.8, 0.9, partial(_equal, 40), n_labels=100, n_units=300
    ),
}
"""By sensitivity and specificity of the judge."""


class Responses(NamedTuple):
    """Responses of a model, with the judge's verdicts."""

    right: Bools
    verdicts: Floats
    clusters: Images


def promises() -> list[Promise]:
    """List the intervals and widths of all populations, and comparisons on three of them."""
    rows = []
    for name, population in POPULATIONS.items():
        described = f"{name}, {population.labels}"
        high = 97.0 if population.n_labels >= 200 else 100.0
        rows.append(_promise(CONTAINS_TRUTH, described, population, _contains_truth, 93.5, high))
        if effective_number(population.assign_clusters(population.n_units)) >= _MIN_FOR_WIDTH:
            event = "width, in % of that of people alone"
            rows.append(_promise(event, described, population, _width_to_labels, 0, 105))
    event = "width of a perfect judge, in % of that of the judge alone"
    for n_labels, n_units, high in ((100, 1000, 135), (400, 3000, 110)):
        population = Population(1, 1, partial(_equal, 1), n_labels=n_labels, n_units=n_units)
        rows.append(_promise(event, population.labels, population, _width_to_judge, 0, high))
    for name in (".90/.90, singles", ".99/.70, clusters of 1 to 3", ".70/.99, clusters of 5"):
        population = POPULATIONS[name]
        other_judge = f"{name}, another judge on these labels"
        rows += [
            _promise(FALSE_ALARM, f"{name}, corrected", population, _is_false_alarm, 0, 6.5),
            _promise(CONTAINS_TRUTH, other_judge, population, _other_judge, 93.5, 100),
        ]
    return rows


def _promise(
    event: str,
    description: str,
    population: Population,
    trial: PopulationTrial,
    low: float,
    high: float,
) -> Promise:
    return Promise(
        event=event,
        population=description,
        trial=partial(trial, population),
        low=low,
        high=high,
        sizes=(population.n_units,),
    )


def _draw_responses(population: Population, rng: Rng, clusters: Images | None = None) -> Responses:
    """Draw responses and verdicts, in the population's clusters or in given ones."""
    if clusters is None:
        clusters = population.assign_clusters(population.n_units)
    right = rng.random(population.n_units) < draw_chances(
        rng, clusters, population.accuracy, _RESPONSE_CORRELATION
    )
    return Responses(right, _draw_verdicts(population, right, clusters, rng), clusters)


def _draw_verdicts(population: Population, right: Bools, clusters: Images, rng: Rng) -> Floats:
    """Draw verdicts whose errors are correlated within a cluster."""
    agrees_if_right, agrees_if_wrong = (
        rng.random(population.n_units)
        < (draw_chances(rng, clusters, share, _ERROR_CORRELATION) if share < 1 else 1.0)
        for share in (population.sensitivity, population.specificity)
    )
    return np.where(right, agrees_if_right, ~agrees_if_wrong).astype(float)


def _draw_labelled(strata: Images, n_labels: int, rng: Rng) -> Floats:
    """Draw units to label; return the probability of each drawn unit, and 0 for the others.

    Each stratum gets ``MIN_OF_STRATUM`` units or all it has; Webster's method divides the rest.
    """
    names, numbers = np.unique(strata, return_inverse=True)
    sizes = np.bincount(numbers)
    n_drawn = np.minimum(sizes, MIN_OF_STRATUM)
    while n_drawn.sum() < min(n_labels, len(strata)):
        n_drawn[np.argmax(np.where(n_drawn < sizes, sizes / (2 * n_drawn + 1), 0))] += 1
    probabilities = np.zeros(len(strata))
    for number in range(len(names)):
        units = rng.permutation(np.flatnonzero(numbers == number))[: n_drawn[number]]
        probabilities[units] = n_drawn[number] / sizes[number]
    return probabilities


def _correct(responses: Responses, probabilities: Floats) -> CorrectedMean:
    """Correct the judge's mean by the labels of the drawn units."""
    columns = zip(
        responses.verdicts.tolist(),
        responses.right.tolist(),
        probabilities.tolist(),
        map(image_name, responses.clusters.tolist()),
        strict=True,
    )
    return corrected_mean(
        [
            CheckedUnit(
                judge=verdict,
                people=float(right) if probability else None,
                probability=probability or 1.0,
                cluster=cluster,
            )
            for verdict, right, probability, cluster in columns
        ]
    )


def _draw_corrected(population: Population, rng: Rng) -> tuple[Responses, CorrectedMean]:
    responses = _draw_responses(population, rng)
    probabilities = _draw_labelled(responses.verdicts.astype(int), population.n_labels, rng)
    return responses, _correct(responses, probabilities)


def _contains_truth(population: Population, _n: int, rng: Rng) -> bool:
    _, corrected = _draw_corrected(population, rng)
    return corrected.low <= population.accuracy <= corrected.high


def _width_to_labels(population: Population, _n: int, rng: Rng) -> float:
    """Width of the corrected interval over that of as many random labels without a judge."""
    responses, corrected = _draw_corrected(population, rng)
    units = rng.permutation(population.n_units)[: population.n_labels]
    labels = mean(to_points(responses.right[units], responses.clusters[units]))
    return (corrected.high - corrected.low) / (labels.high - labels.low)


def _width_to_judge(population: Population, _n: int, rng: Rng) -> float:
    """Width of the corrected interval over that of the judge's verdicts without labels."""
    responses, corrected = _draw_corrected(population, rng)
    verdicts = mean(to_points(responses.verdicts, responses.clusters))
    return (corrected.high - corrected.low) / (verdicts.high - verdicts.low)


def _is_false_alarm(population: Population, _n: int, rng: Rng) -> bool:
    """Compare two equal models on the same questions, whose responses are labelled in pairs."""
    clusters = population.assign_clusters(population.n_units)
    first, second = (_draw_responses(population, rng, clusters) for _ in range(2))
    strata = (2 * first.verdicts + second.verdicts).astype(int)
    probabilities = _draw_labelled(strata, population.n_labels, rng)
    low, high = difference_interval(_correct(first, probabilities), _correct(second, probabilities))
    return not low <= 0 <= high


def _other_judge(population: Population, _n: int, rng: Rng) -> bool:
    """Draw labels by the verdicts of one judge, and correct another judge by them."""
    responses = _draw_responses(population, rng)
    probabilities = _draw_labelled(responses.verdicts.astype(int), population.n_labels, rng)
    other_judge = population._replace(
        sensitivity=population.specificity, specificity=population.sensitivity
    )
    verdicts = _draw_verdicts(other_judge, responses.right, responses.clusters, rng)
    corrected = _correct(responses._replace(verdicts=verdicts), probabilities)
    return corrected.low <= population.accuracy <= corrected.high
