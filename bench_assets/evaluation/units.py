"""Units of a metric: the contribution of each question, pair or image.

A task may state the units itself (``Task.adds``). Otherwise the metric is decomposed in the first
way that reproduces it, for these scores and for random scores on the same questions, because one
model's scores may fit a wrong decomposition by chance.

1. points: the points as a share of the maximum points;
2. questions: the mean over questions, each measured alone, such as queries in one direction;
3. pairs: the same over groups of questions, such as pairs that must both be right;
4. clusters: the same over clusters of questions about one image, weighted by their scored units;
5. categories: the mean of equally weighted categories, each by points or clusters;
6. groups left out: everything else, such as F1. The units are a jackknife's pseudo-values over at
   most 40 groups of clusters (Efron and Tibshirani, *An Introduction to the Bootstrap*, 11.5).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isclose, isnan
from random import Random
from typing import NamedTuple, TypeAlias

from bench_assets.core.stats.clusters import pair_key
from bench_assets.core.stats.paired_tests import PairedScores
from bench_assets.evaluation.task import Adds, Measure, ScoredQuestion

N_GROUPS = 40  # groups of clusters, for metrics without points of their own
_PROBE_SHARE = 0.6  # probability that a random response is right

Clusters: TypeAlias = Mapping[str, str]  # question id -> cluster


class ComparisonUnit(NamedTuple):
    """Contribution of one unit."""

    value: float  # multiplied by the weight
    weight: float
    cluster: str
    questions: tuple[str, ...]


Units: TypeAlias = dict[tuple[str, str], ComparisonUnit]
"""By category ("" if units are not weighted by it), and by question, pair, cluster or group."""


class ScoredMetric(NamedTuple):
    """A model's scores, and the metric of them all."""

    scored: Sequence[ScoredQuestion]
    value: float


def metric_pairs(
    measure: Measure,
    before: ScoredMetric,
    after: ScoredMetric,
    clusters: Clusters,
    adds: Adds | None = None,
) -> list[PairedScores]:
    """Pair the units of two models scored on the same questions.

    The mean change of the pairs equals that of the metric, up to the jackknife's bias for groups.
    """
    _, pairs = keyed_pairs(measure, before, after, clusters, adds)
    return list(pairs.values())


def keyed_pairs(
    measure: Measure,
    before: ScoredMetric,
    after: ScoredMetric,
    clusters: Clusters,
    adds: Adds | None,
) -> tuple[str, dict[tuple[str, str], PairedScores]]:
    """Kind of the units, and the pairs of those with a weight by the keys of ``Units``."""
    kind, (old, new) = units_of_sides(measure, (before, after), clusters, adds)
    pairs = {
        name: PairedScores(
            before=unit.value, after=new[name].value, cluster=unit.cluster, most=unit.weight
        )
        for name, unit in old.items()
        if unit.weight
    }
    return kind, pairs


def units_of_sides(
    measure: Measure, sides: Sequence[ScoredMetric], clusters: Clusters, adds: Adds | None = None
) -> tuple[str, list[Units]]:
    """Kind of the units, and the units of each side; all sides are on the same questions.

    The kind is "own" for units of the task, else a value of ``_NAMES``.
    """
    if adds:
        return "own", [_units_from_task(adds, side.scored, clusters) for side in sides]
    decomposition = _find_decomposition(measure, sides, clusters)
    return _NAMES[decomposition], [decomposition(measure, side, clusters) for side in sides]


def _find_decomposition(
    measure: Measure, sides: Sequence[ScoredMetric], clusters: Clusters
) -> "Decomposition":
    """The first decomposition that reproduces the metric, also for random scores; else groups."""
    probes = [ScoredMetric(probe, measure(probe).value) for probe in _probes(sides[0].scored)]
    # Probes come first, because they rule out most decompositions.
    defined = [side for side in (*reversed(probes), *sides) if not isnan(side.value)]
    for decomposition in (_by_points, _by_question, _by_pair, _by_cluster, _by_category):
        reproduced = (
            _is_weighted_mean(side.value, decomposition(measure, side, clusters))
            for side in defined
        )
        if all(reproduced):
            first_units = decomposition(measure, sides[0], clusters)
            last_units = decomposition(measure, sides[-1], clusters)
            if _have_same_weights(first_units, last_units):
                return decomposition
    return _by_jackknife


def _probes(scored: Sequence[ScoredQuestion]) -> Iterator[list[ScoredQuestion]]:
    """The same questions with random points: first all or none, then fractions."""
    rng = Random(0)
    yield _with_shares(scored, [float(rng.random() < _PROBE_SHARE) for _ in scored])
    yield _with_shares(scored, [rng.random() for _ in scored])


def _with_shares(scored: Sequence[ScoredQuestion], shares: Sequence[float]) -> list[ScoredQuestion]:
    """Replace the points of scores by shares of their maximum points."""
    return [
        ScoredQuestion(question, replace(score, points=share * score.max_points))
        for (question, score), share in zip(scored, shares, strict=True)
    ]


def _is_weighted_mean(value: float, units: Units) -> bool:
    weight = sum(unit.weight for unit in units.values())
    total = sum(unit.value for unit in units.values())
    return bool(weight) and isclose(total / weight, value, rel_tol=1e-9, abs_tol=1e-9)


def _have_same_weights(old: Units, new: Units) -> bool:
    return old.keys() == new.keys() and all(
        isclose(old[name].weight, new[name].weight, rel_tol=1e-9) for name in old
    )


def _units_from_task(adds: Adds, scored: Sequence[ScoredQuestion], clusters: Clusters) -> Units:
    """Contribution of each scored question as the task states it, averaged over samples."""
    values_by_question: dict[str, list[float]] = defaultdict(list)
    rows = _drop_unscored(scored)
    for row, value in zip(rows, adds(rows), strict=True):
        values_by_question[row.question.question_id].append(value)
    units: Units = {}
    for question_id, values in values_by_question.items():
        units["", question_id] = ComparisonUnit(
            value=sum(values) / len(values),
            weight=1.0,
            cluster=clusters[question_id],
            questions=(question_id,),
        )
    return units


def _by_points(_: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    """Points of each scored question, averaged over samples; the weight is its maximum."""
    rows_by_question = _group_by(_drop_unscored(side.scored), lambda row: row.question.question_id)
    units: Units = {}
    for question_id, samples in rows_by_question.items():
        units["", question_id] = ComparisonUnit(
            value=sum(row.score.points or 0.0 for row in samples) / len(samples),
            weight=sum(row.score.max_points for row in samples) / len(samples),
            cluster=clusters[question_id],
            questions=(question_id,),
        )
    return units


def _by_question(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    groups = _group_by(side.scored, lambda row: row.question.question_id)
    return _measure_groups(measure, groups, clusters)


def _by_pair(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    groups = _group_by(side.scored, lambda row: pair_key(row.question))
    return _measure_groups(measure, groups, clusters)


def _by_cluster(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    groups = _group_by(side.scored, lambda row: clusters[row.question.question_id])
    return _measure_groups(measure, groups, clusters)


def _measure_groups(
    measure: Measure, groups: Mapping[str, Sequence[ScoredQuestion]], clusters: Clusters
) -> Units:
    """A unit for each group: its own value, weighted by its scored units; 0 without a value."""
    units: Units = {}
    for name, rows in groups.items():
        mean = measure(rows)
        n_scored = 0 if isnan(mean.value) else mean.n_scored
        units["", name] = ComparisonUnit(
            value=mean.value * n_scored if n_scored else 0.0,
            weight=float(n_scored),
            cluster=clusters[rows[0].question.question_id],
            questions=_question_ids(rows),
        )
    return units


def _by_category(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    """Units of each category, weighted so that all categories count equally.

    Empty if a category is neither a mean of points nor of clusters.
    """
    rows_by_category = _group_by(side.scored, lambda row: row.question.category)
    units: Units = {}
    for category, rows in rows_by_category.items():
        category_side = ScoredMetric(rows, measure(rows).value)
        category_units = _by_points(measure, category_side, clusters)
        if not _is_weighted_mean(category_side.value, category_units):
            category_units = _by_cluster(measure, category_side, clusters)
        if not _is_weighted_mean(category_side.value, category_units):
            return {}
        total = sum(unit.weight for unit in category_units.values()) * len(rows_by_category)
        for (_, name), unit in category_units.items():
            weight = unit.weight / total
            units[category, name] = unit._replace(value=unit.value / total, weight=weight)
    return units


def _by_jackknife(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    """Jackknife pseudo-values: G times the metric, minus G - 1 times that without a group."""
    scored, full_value = side
    ordered_clusters = dict.fromkeys(clusters[row.question.question_id] for row in scored)
    # Round-robin, in the order of the questions.
    group_of_cluster = {name: str(n % N_GROUPS) for n, name in enumerate(ordered_clusters)}
    groups = _group_by(scored, lambda row: group_of_cluster[clusters[row.question.question_id]])
    n = len(groups)
    units: Units = {}
    for name, group in groups.items():
        others = [row for other, rows in groups.items() if other != name for row in rows]
        value_without = measure(others).value if others else full_value
        units["", name] = ComparisonUnit(
            value=n * full_value - (n - 1) * value_without,
            weight=1.0,
            cluster=name,
            questions=_question_ids(group),
        )
    return units


def _question_ids(rows: Sequence[ScoredQuestion]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.question.question_id for row in rows))


def _drop_unscored(scored: Iterable[ScoredQuestion]) -> list[ScoredQuestion]:
    return [row for row in scored if row.score.points is not None]


def _group_by(
    scored: Iterable[ScoredQuestion], key: Callable[[ScoredQuestion], str]
) -> dict[str, list[ScoredQuestion]]:
    groups: dict[str, list[ScoredQuestion]] = defaultdict(list)
    for row in scored:
        groups[key(row)].append(row)
    return dict(groups)


Decomposition: TypeAlias = Callable[[Measure, ScoredMetric, Clusters], Units]
_NAMES: Mapping[Decomposition, str] = {
    _by_points: "points",
    _by_question: "questions",
    _by_pair: "pairs",
    _by_cluster: "clusters",
    _by_category: "categories",
    _by_jackknife: "groups",
}
