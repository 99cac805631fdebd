"""Means of a judge's verdicts, corrected by people's verdicts on a sample of the units.

Prediction-powered inference (Angelopoulos et al., 2023; PPI++) with the judge's verdicts as strata:
the corrected mean is people's mean in each stratum, weighted by the stratum's share of all units.
The judge's values are tuned, which matters for graded judges only. The interval adds three parts in
squares, up and down apart (MOVER; Zou and Donner, 2008): the units, whose part is that of ``mean``;
their covariance with the labels of their clusters; and the labels, by Jeffreys' limits on the
effective labels of each stratum (Korn and Graubard, 1998). Measured coverage: ``make coverage``.
"""

from collections.abc import Mapping, Sequence
from math import ceil, hypot, inf, prod, sqrt
from typing import NamedTuple

import numpy as np

from bench_assets.core.stats.means import (
    Floats,
    ScoredPoint,
    Z,
    mean,
    satterthwaite_freedom,
    student_quantile,
)

MIN_LABELS, MIN_CLUSTERS = 30, 10
"""Labelled units, and clusters with labels, below which a judge's mean is not corrected."""

_MIN_VARIANCE = 1e-15  # a smaller variance is a rounding error
_ROUNDING = 1e-9  # a smaller share is a rounding error
_SHARED = 1.0001  # effective labels a cluster, above which labels share clusters


class CheckedUnit(NamedTuple):
    """A unit of a metric by a judge, and by people if they were asked about it."""

    judge: float  # in [0, 1]
    people: float | None = None  # in [0, 1]; None: not labelled
    probability: float = 1.0  # of being labelled; only ratios within a verdict count
    cluster: str = ""  # units of one cluster are not independent; "": one of its own
    weight: float = 1.0


class CorrectedMean(NamedTuple):
    """A judge's mean corrected by people, with 95 % intervals."""

    value: float
    low: float
    high: float
    judge: float  # the judge's own mean
    bias: float  # the judge's mean minus the corrected one
    bias_low: float
    bias_high: float
    n_checked: int  # labelled units
    n_units: int
    tuning: float  # of the judge's values, in [0, 1]; as in PPI++
    moves: Mapping[str, float]  # CR2 influence of each cluster; their squares sum to the variance
    from_labels: float  # variance that more labels reduce


def shortage(units: Sequence[CheckedUnit]) -> str:
    """Reason why there are too few labels to correct a mean; "" if there are enough.

    >>> shortage([CheckedUnit(1.0, 1.0)] * 3)
    '3 units labelled, expected at least 30'
    """
    labelled = [unit for unit in units if unit.people is not None]
    if len(labelled) < MIN_LABELS:
        return f"{len(labelled)} units labelled, expected at least {MIN_LABELS}"
    if {is_right(unit.judge) for unit in units} - {is_right(unit.judge) for unit in labelled}:
        return "no unit of one of the judge's verdicts is labelled"
    n_clusters = len({unit.cluster or str(number) for number, unit in enumerate(labelled)})
    if n_clusters < MIN_CLUSTERS:
        return f"labels in {n_clusters} clusters, expected at least {MIN_CLUSTERS}"
    return ""


def is_right(share: float) -> bool:
    """Verdict of a judge that gives this share of the points."""
    return share > 0.5


def corrected_mean(units: Sequence[CheckedUnit], *, by_verdict: bool = True) -> CorrectedMean:
    """Correct the mean of a judge by people's verdicts on a sample of its units.

    >>> judge, people = (1, 1, 1, 0, 0, 0), (1, 0, None, 1, 0, None)
    >>> found = corrected_mean([CheckedUnit(*row, 2 / 3) for row in zip(judge, people)])
    >>> round(found.low, 4), found.value, round(found.high, 4)
    (0.1641, 0.5, 0.8359)

    Args:
        units: All units that the judge gave a value; some of each verdict are labelled.
        by_verdict: Whether the judge's verdicts are strata; if not, all units are one stratum.

    Raises:
        ValueError: If no unit of a stratum is labelled.
    """
    columns = _Columns(units, by_verdict)
    judge, weight, labels = columns.judge, columns.weight, columns.labels()
    tuning, factor = _tuning(columns, labels)
    rest = columns.people - factor * judge
    centres = columns.by_stratum(labels * rest) / columns.sizes
    predicted = factor * judge + centres[columns.stratum]
    value, judged = (float(weight @ values) / columns.total for values in (predicted, judge))
    shares = columns.by_cluster(weight) / columns.total

    def influence(deviations: Floats) -> Floats:
        return _cr2(columns.by_cluster(weight * deviations) / columns.total, shares)

    rows, differences = influence(predicted - value), influence(judge - predicted - judged + value)
    strata = [_stratum(columns, labels, rest, number) for number in range(len(columns.sizes))]
    down, up = hypot(*(part.down for part in strata)), hypot(*(part.up for part in strata))
    moves = rows + sum(part.moves for part in strata)
    from_labels = sum(float(part.moves @ part.moves) for part in strata)
    covariance = max(0.0, float(moves @ moves - rows @ rows) - from_labels)
    quantile = student_quantile(satterthwaite_freedom(shares))
    spread, shared = quantile * sqrt(differences @ differences), quantile * sqrt(covariance)
    rows_down, rows_up = _sampling_distances(predicted, columns, value)
    return CorrectedMean(
        value=value,
        low=max(0.0, value - hypot(rows_down, shared, down)),
        high=min(1.0, value + hypot(rows_up, shared, up)),
        judge=judged,
        bias=judged - value,
        bias_low=judged - value - hypot(spread, up),
        bias_high=judged - value + hypot(spread, down),
        n_checked=int(columns.checked.sum()),
        n_units=len(units),
        tuning=tuning,
        moves=dict(zip(columns.clusters, moves.tolist(), strict=True)),
        from_labels=from_labels,
    )


class _Columns:
    """Units as columns, numbered by cluster and stratum."""

    def __init__(self, units: Sequence[CheckedUnit], by_verdict: bool) -> None:
        self.judge = np.array([unit.judge for unit in units], float)
        self.weight = np.array([unit.weight for unit in units], float)
        self.checked = np.array([unit.people is not None for unit in units])
        self.people = np.array([unit.people or 0.0 for unit in units], float)
        self._drawn = np.where(self.checked, self.weight, 0.0) / [u.probability for u in units]
        self.names = [unit.cluster or f"unit {number}" for number, unit in enumerate(units)]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(self.names))}
        self.clusters, self._cluster = list(numbers), [numbers[name] for name in self.names]
        verdicts = [by_verdict and is_right(unit.judge) for unit in units]
        self.stratum = np.unique(verdicts, return_inverse=True)[1]
        self.sizes = self.by_stratum(self.weight)
        self.total = float(self.weight.sum())

    def by_stratum(self, values: Floats) -> Floats:
        return np.bincount(self.stratum, values).astype(float)

    def by_cluster(self, values: Floats) -> Floats:
        return np.bincount(self._cluster, values, len(self.clusters)).astype(float)

    def labels(self) -> Floats:
        """Weights of the labels; those of a stratum weigh what its units weigh."""
        drawn = self.by_stratum(self._drawn)
        if not drawn.all():
            raise ValueError("no unit of one of the judge's verdicts is labelled")
        return self._drawn * (self.sizes / drawn)[self.stratum]


def _tuning(columns: _Columns, labels: Floats) -> tuple[float, float]:
    """Weight of the judge's values as in PPI++, and as a factor over all units.

    PPI++ compares labelled units with the others, this module labelled units with all.
    """
    n, n_units, total = int(columns.checked.sum()), len(labels), columns.total
    centres = [float(by @ columns.judge) / total for by in (columns.weight, labels)]
    covariance = labels @ (
        (columns.people - labels @ columns.people / total) * (columns.judge - centres[1])
    )
    squares = columns.weight @ (columns.judge - centres[0]) ** 2 * n_units / max(1, n_units - 1)
    if squares / total < _MIN_VARIANCE or n == n_units:
        return 0.0, 0.0
    n_other = 1 + n / (n_units - n)
    tuning = min(1.0, max(0.0, float(covariance / squares) / n_other))
    return tuning, tuning * n_other


class _Stratum(NamedTuple):
    """Labels on the units with one verdict of the judge."""

    moves: Floats  # CR2 influence of each cluster on the corrected mean
    down: float  # distance of its part of the mean to the lower limit
    up: float


def _stratum(columns: _Columns, labels: Floats, rest: Floats, number: int) -> _Stratum:
    own_labels, size = (
        np.where(columns.stratum == number, labels, 0.0),
        float(columns.sizes[number]),
    )
    right = float(own_labels @ columns.people) / size
    leverage = columns.by_cluster(own_labels) / size
    moves = _cr2(
        columns.by_cluster(own_labels * (rest - own_labels @ rest / size)) / size, leverage
    )
    variance, independent = float(moves @ moves), float(1 / (leverage @ leverage))
    n = right * (1 - right) / variance if variance > _MIN_VARIANCE else independent
    if variance > _MIN_VARIANCE and size**2 / (own_labels @ own_labels) > _SHARED * independent:
        n *= (Z / student_quantile(satterthwaite_freedom(leverage))) ** 2
    low, high = _jeffreys(right, n)
    share = size / columns.total
    return _Stratum(moves * share, share * (right - low), share * (high - right))


def _cr2(moves: Floats, leverage: Floats) -> Floats:
    return np.asarray(moves / np.sqrt(np.maximum(1 - leverage, _ROUNDING)))


def _jeffreys(share: float, n: float) -> tuple[float, float]:
    """Jeffreys' 95 % interval of a share of n units; 0 and 1 stay limits."""
    from scipy.special import betaincinv

    yes, no = share * n, (1 - share) * n
    low, high = (float(betaincinv(yes + 0.5, no + 0.5, level)) for level in (0.025, 0.975))
    return low if yes > _ROUNDING else 0.0, high if no > _ROUNDING else 1.0


def _sampling_distances(predicted: Floats, columns: _Columns, value: float) -> tuple[float, float]:
    """Distances of the mean to the limits that the sample of units alone gives it.

    0 if the predictions do not vary.
    """
    if np.ptp(predicted) < _ROUNDING:
        return 0.0, 0.0
    rows = zip(predicted.tolist(), columns.names, columns.weight.tolist(), strict=True)
    estimate = mean(ScoredPoint(*row) for row in rows)
    return value - estimate.low, estimate.high - value


def difference_interval(before: CorrectedMean, after: CorrectedMean) -> tuple[float, float]:
    """95 % interval of the difference of two models' corrected means on the same questions.

    MOVER with the correlation of the clusters' influence (Zou and Donner, 2008).
    """
    shared = sum(move * after.moves.get(name, 0.0) for name, move in before.moves.items())
    squares = prod(sum(m * m for m in side.moves.values()) for side in (before, after))
    correlation = shared / sqrt(squares) if squares > 0 else 0.0
    difference = after.value - before.value

    def distance(x: float, y: float) -> float:
        return sqrt(max(0.0, x * x + y * y - 2 * correlation * x * y))

    return (
        difference - distance(after.value - after.low, before.high - before.value),
        difference + distance(after.high - after.value, before.value - before.low),
    )


def labels_to_halve(found: CorrectedMean) -> int | None:
    """Labels that halve the interval; None if labels on all units would not.

    Only the variance of the labels falls with their number; that of the questions stays.
    """
    variance = sum(move * move for move in found.moves.values())
    left = variance / 4 - (variance - found.from_labels)
    needed = found.n_checked * found.from_labels / left if left > 0 else inf
    return ceil(needed) if needed <= found.n_units else None
