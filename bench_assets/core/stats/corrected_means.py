"""Means of a judge's verdicts, corrected by people's verdicts on a sample of the units.

Prediction-powered inference (Angelopoulos et al., 2023; PPI++) with the judge's verdicts as strata:
the corrected mean is people's mean in each stratum, weighted by the stratum's share of all units.
The judge's values are tuned, which matters for graded judges only. The interval adds three parts in
squares, up and down apart (MOVER; Zou and Donner, 2008): the units, whose part is that of ``mean``;
their covariance with the labels of their clusters; and the labels, by Jeffreys' limits on the
effective labels of each stratum (Korn and Graubard, 1998). Measured coverage: ``make coverage``.
"""

from collections.abc import Mapping, Sequence
from math import ceil, hypot, sqrt
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

_MIN_VARIANCE = 1e-15  # rounding error of a variance
_ROUNDING = 1e-9  # rounding error of a share
_SHARED = 1.0001  # effective labels per cluster, above which labels share clusters


class CheckedUnit(NamedTuple):
    """A unit of a metric by a judge, and by people if they were asked about it."""

    judge: float  # in [0, 1]
    people: float | None = None  # in [0, 1]; None: not labelled
    probability: float = 1.0  # of being labelled; only ratios within a verdict count
    cluster: str = ""  # units of one cluster are not independent; "": a cluster of its own
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
    n_clusters = len({unit.cluster or str(index) for index, unit in enumerate(labelled)})
    if n_clusters < MIN_CLUSTERS:
        return f"labels in {n_clusters} clusters, expected at least {MIN_CLUSTERS}"
    return ""


def is_right(share: float) -> bool:
    """Whether a judge that gives this share of the points calls the unit right."""
    return share > 0.5


def corrected_mean(units: Sequence[CheckedUnit], *, by_verdict: bool = True) -> CorrectedMean:
    """Correct the mean of a judge by people's verdicts on a sample of its units.

    >>> judge, people = (1, 1, 1, 0, 0, 0), (1, 0, None, 1, 0, None)
    >>> units = [CheckedUnit(j, p, probability=2 / 3) for j, p in zip(judge, people)]
    >>> corrected = corrected_mean(units)
    >>> round(corrected.low, 4), corrected.value, round(corrected.high, 4)
    (0.1641, 0.5, 0.8359)

    Args:
        units: All units with a value of the judge, at least one; some of each verdict are labelled.
        by_verdict: Whether the judge's verdicts are strata; if not, all units are one stratum.

    Raises:
        ValueError: If no unit of a stratum is labelled.
    """
    columns = _Columns(units, by_verdict=by_verdict)
    labels = columns.label_weights()
    tuning, factor = _tuning(columns, labels)
    residuals = columns.people - factor * columns.judge
    centres = columns.by_stratum(labels * residuals) / columns.sizes
    predicted = factor * columns.judge + centres[columns.stratum]
    value, judge_mean = columns.mean(predicted), columns.mean(columns.judge)
    bias = judge_mean - value
    unit_moves = columns.influence(predicted - value)
    bias_moves = columns.influence(columns.judge - predicted - judge_mean + value)
    strata = [_stratum(columns, labels, residuals, index) for index in range(len(columns.sizes))]
    moves = unit_moves + sum(stratum.moves for stratum in strata)
    from_labels = sum(float(stratum.moves @ stratum.moves) for stratum in strata)
    covariance = max(0.0, float(moves @ moves - unit_moves @ unit_moves) - from_labels)
    quantile = student_quantile(satterthwaite_freedom(columns.shares))
    covariance_distance = quantile * sqrt(covariance)
    bias_distance = quantile * sqrt(bias_moves @ bias_moves)
    label_down = hypot(*(stratum.down for stratum in strata))
    label_up = hypot(*(stratum.up for stratum in strata))
    unit_down, unit_up = _sampling_distances(predicted, columns, value)
    return CorrectedMean(
        value=value,
        low=max(0.0, value - hypot(unit_down, covariance_distance, label_down)),
        high=min(1.0, value + hypot(unit_up, covariance_distance, label_up)),
        judge=judge_mean,
        bias=bias,
        bias_low=bias - hypot(bias_distance, label_up),
        bias_high=bias + hypot(bias_distance, label_down),
        n_checked=int(columns.checked.sum()),
        n_units=len(units),
        tuning=tuning,
        moves=dict(zip(columns.clusters, moves.tolist(), strict=True)),
        from_labels=from_labels,
    )


class _Columns:
    """Units as columns, with the indices of their clusters and strata."""

    def __init__(self, units: Sequence[CheckedUnit], *, by_verdict: bool) -> None:
        self.judge = np.array([unit.judge for unit in units], float)
        self.weight = np.array([unit.weight for unit in units], float)
        self.checked = np.array([unit.people is not None for unit in units])
        self.people = np.array([unit.people or 0.0 for unit in units], float)
        self._probability = np.array([unit.probability for unit in units], float)
        self.names = [unit.cluster or f"unit {index}" for index, unit in enumerate(units)]
        indices = {name: index for index, name in enumerate(dict.fromkeys(self.names))}
        self.clusters, self._cluster = list(indices), [indices[name] for name in self.names]
        verdicts = [by_verdict and is_right(unit.judge) for unit in units]
        _, self.stratum = np.unique(verdicts, return_inverse=True)
        self.sizes = self.by_stratum(self.weight)
        self.total = float(self.weight.sum())
        self.shares = self.by_cluster(self.weight) / self.total  # of each cluster

    def by_stratum(self, values: Floats) -> Floats:
        """Sum values by stratum."""
        return np.bincount(self.stratum, values).astype(float)

    def by_cluster(self, values: Floats) -> Floats:
        """Sum values by cluster."""
        return np.bincount(self._cluster, values, len(self.clusters)).astype(float)

    def mean(self, values: Floats) -> float:
        return float(self.weight @ values) / self.total

    def influence(self, deviations: Floats) -> Floats:
        """CR2 influence of each cluster on a mean over all units."""
        return _cr2(self.by_cluster(self.weight * deviations) / self.total, self.shares)

    def label_weights(self) -> Floats:
        """Weight of each label; the labels of a stratum together weigh as much as its units."""
        weights = np.where(self.checked, self.weight, 0.0) / self._probability
        stratum_weights = self.by_stratum(weights)
        if not stratum_weights.all():
            raise ValueError("no unit of one of the judge's verdicts is labelled")
        return np.asarray(weights * (self.sizes / stratum_weights)[self.stratum])


def _tuning(columns: _Columns, labels: Floats) -> tuple[float, float]:
    """Weight of the judge's values as in PPI++, and the factor for comparison with all units.

    PPI++ compares the labelled units with the others; this module compares them with all units.
    """
    n, n_units, total = int(columns.checked.sum()), len(labels), columns.total
    labelled_people = columns.people - labels @ columns.people / total
    labelled_judge = columns.judge - float(labels @ columns.judge) / total
    covariance = labels @ (labelled_people * labelled_judge)
    deviations = columns.judge - columns.mean(columns.judge)
    squares = columns.weight @ deviations**2 * n_units / max(1, n_units - 1)
    if squares / total < _MIN_VARIANCE or n == n_units:
        return 0.0, 0.0
    scale = 1 + n / (n_units - n)  # from a comparison with the other units to one with all
    tuning = min(1.0, max(0.0, float(covariance / squares) / scale))
    return tuning, tuning * scale


class _Stratum(NamedTuple):
    """Labels on the units with one verdict of the judge."""

    moves: Floats  # CR2 influence of each cluster on the corrected mean
    down: float  # distance of its part of the mean to the lower limit
    up: float


def _stratum(columns: _Columns, labels: Floats, residuals: Floats, index: int) -> _Stratum:
    """Part of the labels of one stratum in the corrected mean."""
    own_labels = np.where(columns.stratum == index, labels, 0.0)
    size = float(columns.sizes[index])
    right_share = float(own_labels @ columns.people) / size
    leverage = columns.by_cluster(own_labels) / size
    deviations = residuals - own_labels @ residuals / size
    moves = _cr2(columns.by_cluster(own_labels * deviations) / size, leverage)
    variance = float(moves @ moves)
    n_clusters = float(1 / (leverage @ leverage))  # effective
    n_labels = size**2 / (own_labels @ own_labels)
    n = n_clusters
    if variance > _MIN_VARIANCE:
        n = right_share * (1 - right_share) / variance
        if n_labels > _SHARED * n_clusters:
            n *= (Z / student_quantile(satterthwaite_freedom(leverage))) ** 2
    low, high = _jeffreys(right_share, n)
    share = size / columns.total
    down, up = share * (right_share - low), share * (high - right_share)
    return _Stratum(moves=moves * share, down=down, up=up)


def _cr2(moves: Floats, leverage: Floats) -> Floats:
    """Divide each cluster's influence by the root of 1 - leverage (Bell and McCaffrey, 2002)."""
    return np.asarray(moves / np.sqrt(np.maximum(1 - leverage, _ROUNDING)))


def _jeffreys(share: float, n: float) -> tuple[float, float]:
    """Jeffreys' 95 % interval of a share of n units; a share of 0 or 1 is its own limit."""
    from scipy.special import betaincinv

    n_yes, n_no = share * n, (1 - share) * n
    low, high = (float(betaincinv(n_yes + 0.5, n_no + 0.5, level)) for level in (0.025, 0.975))
    return low if n_yes > _ROUNDING else 0.0, high if n_no > _ROUNDING else 1.0


def _sampling_distances(predicted: Floats, columns: _Columns, value: float) -> tuple[float, float]:
    """Distances from the mean to the limits of its interval, for the sampling of units alone.

    Both are 0 if the predictions do not vary.
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
    covariance = sum(move * after.moves.get(name, 0.0) for name, move in before.moves.items())
    squares = _variance(before) * _variance(after)
    correlation = covariance / sqrt(squares) if squares > 0 else 0.0
    difference = after.value - before.value

    def distance(x: float, y: float) -> float:
        return sqrt(max(0.0, x * x + y * y - 2 * correlation * x * y))

    return (
        difference - distance(after.value - after.low, before.high - before.value),
        difference + distance(after.high - after.value, before.value - before.low),
    )


def _variance(corrected: CorrectedMean) -> float:
    return sum(move * move for move in corrected.moves.values())


def labels_to_halve(corrected: CorrectedMean) -> int | None:
    """Number of labels that would halve the interval; None if labels on all units would not.

    Only the variance of the labels falls with their number; that of the questions stays.
    """
    variance = _variance(corrected)
    label_variance = variance / 4 - (variance - corrected.from_labels)
    if label_variance <= 0:
        return None
    needed = corrected.n_checked * corrected.from_labels / label_variance
    return ceil(needed) if needed <= corrected.n_units else None
