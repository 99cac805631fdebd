"""Units of a metric: the contribution of each question, pair or image.

A task may state the units itself (``Task.adds``). Otherwise the metric is decomposed in the first
way that reproduces it, for these scores and for random scores on the same questions, because one
model's scores may fit a wrong decomposition by chance.

1. points: the points as a share of the maximum points;
2. questions: the mean over questions, each measured alone, such as queries in one direction;
3. pairs: the same over groups of questions, such as pairs that must both be right;
4. clusters: the same over the clusters of ``clusters_of``, weighted by their scored units;
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

N_GROUPS = 40  # of clusters, for metrics without points of their own
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
    return list(keyed_pairs(measure, before, after, clusters, adds)[1].values())


def keyed_pairs(
    measure: Measure,
    before: ScoredMetric,
    after: ScoredMetric,
    clusters: Clusters,
    adds: Adds | None = None,
) -> tuple[str, dict[tuple[str, str], PairedScores]]:
    """Kind of the units, and their pairs as in ``metric_pairs``, by the keys of ``Units``."""
    kind, (old, new) = units_of_sides(measure, (before, after), clusters, adds)
    return kind, _pair_units(old, new)


def metric_units(
    measure: Measure, side: ScoredMetric, clusters: Clusters, adds: Adds | None = None
) -> tuple[str, Units]:
    """Kind and units of one model, to be paired with another's."""
    kind, (units,) = units_of_sides(measure, (side,), clusters, adds)
    return kind, units


def units_of_sides(
    measure: Measure, sides: Sequence[ScoredMetric], clusters: Clusters, adds: Adds | None = None
) -> tuple[str, list[Units]]:
    """Kind of the units, and those of each side: scores of the same questions."""
    if adds:
        return "own", [_units_from_task(adds, side.scored, clusters) for side in sides]
    decomposition = _find_decomposition(measure, sides, clusters)
    return _NAMES[decomposition], [decomposition(measure, side, clusters) for side in sides]


def _find_decomposition(
    measure: Measure, sides: Sequence[ScoredMetric], clusters: Clusters
) -> "Decomposition":
    """The first decomposition that reproduces the metric, also for random scores."""
    probes = [ScoredMetric(probe, measure(probe).value) for probe in _probes(sides[0].scored)]
    defined = [side for side in (*sides, *probes) if not isnan(side.value)]
    for decomposition in (_by_points, _by_question, _by_pair, _by_cluster, _by_category):
        if all(
            _reproduces(side.value, decomposition(measure, side, clusters))
            for side in reversed(defined)
        ):
            old, new = (decomposition(measure, side, clusters) for side in (sides[0], sides[-1]))
            if _same_weights(old, new):
                return decomposition
    return _by_jackknife


def _probes(scored: Sequence[ScoredQuestion]) -> Iterator[list[ScoredQuestion]]:
    """The same questions with random points: all or none, and fractions."""
    rng = Random(0)
    for all_or_none in (True, False):
        draws = [rng.random() for _ in scored]
        shares = [float(share < _PROBE_SHARE) for share in draws] if all_or_none else draws
        yield [
            scored_question._replace(
                score=replace(
                    scored_question.score, points=share * scored_question.score.max_points
                )
            )
            for scored_question, share in zip(scored, shares, strict=True)
        ]


def _reproduces(value: float, units: Units) -> bool:
    weight = sum(unit.weight for unit in units.values())
    summed = sum(unit.value for unit in units.values())
    return bool(weight) and isclose(summed / weight, value, rel_tol=1e-9, abs_tol=1e-9)


def _same_weights(old: Units, new: Units) -> bool:
    return old.keys() == new.keys() and all(
        isclose(old[name].weight, new[name].weight, rel_tol=1e-9) for name in old
    )


def _pair_units(old: Units, new: Units) -> dict[tuple[str, str], PairedScores]:
    return {
        name: PairedScores(unit.value, new[name].value, unit.cluster, unit.weight)
        for name, unit in old.items()
        if unit.weight
    }


def _units_from_task(adds: Adds, scored: Sequence[ScoredQuestion], clusters: Clusters) -> Units:
    """Contribution of each score as the task states it, averaged over samples."""
    by_question: dict[str, list[float]] = defaultdict(list)
    known = _drop_unscored(scored)
    for scored_question, value in zip(known, adds(known), strict=True):
        by_question[scored_question.question.question_id].append(value)
    return {
        ("", name): ComparisonUnit(sum(values) / len(values), 1.0, clusters[name], (name,))
        for name, values in by_question.items()
    }


def _by_points(_: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    """Points of each scored question, averaged over samples."""
    by_question = _group_by(_drop_unscored(side.scored), lambda one: one.question.question_id)
    units: Units = {}
    for name, of_one in by_question.items():
        value = sum(scored_question.score.points or 0.0 for scored_question in of_one) / len(of_one)
        most = sum(scored_question.score.max_points for scored_question in of_one) / len(of_one)
        units["", name] = ComparisonUnit(value, most, clusters[name], (name,))
    return units


def _by_question(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    """Each question measured alone."""
    parts = _group_by(side.scored, lambda one: one.question.question_id)
    return _measure_parts(measure, parts, clusters)


def _by_pair(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    """Each group of questions measured alone."""
    parts = _group_by(side.scored, lambda one: pair_key(one.question))
    return _measure_parts(measure, parts, clusters)


def _by_cluster(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    """Each cluster measured alone."""
    parts = _group_by(side.scored, lambda one: clusters[one.question.question_id])
    return _measure_parts(measure, parts, clusters)


def _measure_parts(
    measure: Measure, parts: Mapping[str, Sequence[ScoredQuestion]], clusters: Clusters
) -> Units:
    units: Units = {}
    for name, part in parts.items():
        part_value = measure(part)
        known = 0 if isnan(part_value.value) else part_value.n_scored
        cluster = clusters[part[0].question.question_id]
        value = part_value.value * known if known else 0.0
        units["", name] = ComparisonUnit(value, float(known), cluster, _question_ids(part))
    return units


def _by_category(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    """Units of each category, weighted so that all categories count equally."""
    parts = _group_by(side.scored, lambda one: one.question.category)
    units: Units = {}
    for category, part in parts.items():
        scored_metric = ScoredMetric(part, measure(part).value)
        fitting = (
            units
            for units in (
                _by_points(measure, scored_metric, clusters),
                _by_cluster(measure, scored_metric, clusters),
            )
            if _reproduces(scored_metric.value, units)
        )
        if not (inside := next(fitting, None)):
            return {}
        total = sum(unit.weight for unit in inside.values()) * len(parts)
        units |= {
            (category, name): u._replace(value=u.value / total, weight=u.weight / total)
            for (_, name), u in inside.items()
        }
    return units


def _by_jackknife(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    """Jackknife pseudo-values: G times the metric, minus G - 1 times that without a group."""
    scored, full_value = side
    groups = _group_by(scored, _assign_groups(scored, clusters))
    n = len(groups)
    units: Units = {}
    for name in groups:
        rest = [
            scored_question
            for group, part in groups.items()
            if group != name
            for scored_question in part
        ]
        left = measure(rest).value if rest else full_value
        pseudo_value = n * full_value - (n - 1) * left
        units["", name] = ComparisonUnit(pseudo_value, 1.0, name, _question_ids(groups[name]))
    return units


def _assign_groups(
    scored: Sequence[ScoredQuestion], clusters: Clusters
) -> Callable[[ScoredQuestion], str]:
    """Assign clusters to groups round-robin, in the order of the questions."""
    distinct = dict.fromkeys(
        clusters[scored_question.question.question_id] for scored_question in scored
    )
    group = {cluster: str(number % N_GROUPS) for number, cluster in enumerate(distinct)}
    return lambda one: group[clusters[one.question.question_id]]


def _question_ids(part: Sequence[ScoredQuestion]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(scored_question.question.question_id for scored_question in part))


def _drop_unscored(scored: Iterable[ScoredQuestion]) -> list[ScoredQuestion]:
    return [
        scored_question for scored_question in scored if scored_question.score.points is not None
    ]


def _group_by(
    scored: Iterable[ScoredQuestion], key: Callable[[ScoredQuestion], str]
) -> dict[str, list[ScoredQuestion]]:
    parts: dict[str, list[ScoredQuestion]] = defaultdict(list)
    for scored_question in scored:
        parts[key(scored_question)].append(scored_question)
    return dict(parts)


Decomposition: TypeAlias = Callable[[Measure, ScoredMetric, Clusters], Units]
_NAMES: Mapping[Decomposition, str] = {
    _by_points: "points",
    _by_question: "questions",
    _by_pair: "pairs",
    _by_cluster: "clusters",
    _by_category: "categories",
    _by_jackknife: "groups",
}
