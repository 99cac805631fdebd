"""Units of a metric: the contribution of each question, pair or image.

What a task says itself (``Task.adds``) is taken. Else these are tried in turn, and taken where the
metric of all comes out again, for both models:

1. points: the metric is the points as a share of those there are;
2. clusters: the mean over what ``paired.clusters_of`` puts together, each measured alone, weighed
   by its units: pairs of which both halves must be right, queries in one direction;
3. categories: the mean of categories that count the same, each one of the above;
4. groups left out: all else, such as F1. A jackknife's pseudo-values over at most 40 groups of
   clusters stand for the units (Efron and Tibshirani, *An Introduction to the Bootstrap*, 11.5).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isclose, isnan
from typing import NamedTuple, TypeAlias

from bench_assets.core.stats.paired_tests import PairedScores
from bench_assets.evaluation.task import Adds, Measure, ScoredQuestion

GROUPS = 40

Clusters: TypeAlias = Mapping[str, str]  # question id -> cluster


class ComparisonUnit(NamedTuple):
    """What one unit adds."""

    value: float  # already times its weight
    weight: float
    cluster: str


Units: TypeAlias = dict[tuple[str, str], ComparisonUnit]
"""By category, "" where units are not weighed by it, and by question, cluster or group."""


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
    """Pair what the units add for two models that were scored on the same questions.

    The change of the pairs is that of the metric; of groups left out, but for the jackknife's bias.
    """
    if adds:
        return _paired(*(_as_said(adds, side.scored, clusters) for side in (before, after)))
    for take in _WAYS.values():
        old, new = (take(measure, side.scored, clusters) for side in (before, after))
        if _fits(before.value, old) and _fits(after.value, new) and _same_weights(old, new):
            return _paired(old, new)
    return _paired(*(_by_groups_left_out(measure, side, clusters) for side in (before, after)))


def ways(
    measure: Measure, side: ScoredMetric, clusters: Clusters, adds: Adds | None = None
) -> dict[str, Units]:
    """Part the metric of one model, to be paired with that of any other.

    In the first way that fits; in every one that does, and by groups, where all units add the same:
    there, more ways fit than will fit the other model.
    """
    if adds:
        return {"own": _as_said(adds, side.scored, clusters)}
    found = {}
    for name, take in _WAYS.items():
        units = take(measure, side.scored, clusters)
        if _fits(side.value, units):
            found[name] = units
            if len({unit.value / unit.weight for unit in units.values() if unit.weight}) > 1:
                return found
    return {**found, "groups": _by_groups_left_out(measure, side, clusters)}


def _fits(value: float, units: Units) -> bool:
    weight = sum(unit.weight for unit in units.values())
    summed = sum(unit.value for unit in units.values())
    return bool(weight) and isclose(summed / weight, value, rel_tol=1e-9, abs_tol=1e-9)


def _same_weights(old: Units, new: Units) -> bool:
    return old.keys() == new.keys() and all(
        isclose(old[name].weight, new[name].weight, rel_tol=1e-9) for name in old
    )


def _paired(old: Units, new: Units) -> list[PairedScores]:
    return [
        PairedScores(old[name].value, new[name].value, old[name].cluster, old[name].weight)
        for name in old
        if old[name].weight
    ]


def _as_said(adds: Adds, scored: Sequence[ScoredQuestion], clusters: Clusters) -> Units:
    """What the task says that each score adds, several draws of a question averaged."""
    given: dict[str, list[float]] = defaultdict(list)
    for one, value in zip(scored, adds(scored), strict=True):
        given[one.question.question_id].append(value)
    return {
        ("", name): ComparisonUnit(sum(values) / len(values), 1.0, clusters[name])
        for name, values in given.items()
    }


def _by_points(_: Measure, scored: Sequence[ScoredQuestion], clusters: Clusters) -> Units:
    """Each question's points, several draws averaged."""
    given: dict[str, list[ScoredQuestion]] = defaultdict(list)
    for one in scored:
        given[one.question.question_id].append(one)
    units: Units = {}
    for name, of_one in given.items():
        value = sum(one.score.points or 0.0 for one in of_one) / len(of_one)
        most = sum(one.score.max_points for one in of_one) / len(of_one)
        units["", name] = ComparisonUnit(value, most, clusters[name])
    return units


def _by_cluster(measure: Measure, scored: Sequence[ScoredQuestion], clusters: Clusters) -> Units:
    """Each cluster measured alone."""
    units: Units = {}
    for name, part in _parted(scored, lambda one: clusters[one.question.question_id]).items():
        found = measure(part)
        known = 0 if isnan(found.value) else found.n_scored
        units["", name] = ComparisonUnit(found.value * known if known else 0.0, float(known), name)
    return units


def _by_category(measure: Measure, scored: Sequence[ScoredQuestion], clusters: Clusters) -> Units:
    """The units of each category, so weighed that all categories count the same."""
    parts = _parted(scored, lambda one: one.question.category)
    units: Units = {}
    for category, part in parts.items():
        value = measure(part).value
        inside = _by_points(measure, part, clusters)
        if not _fits(value, inside):
            inside = _by_cluster(measure, part, clusters)
        if not _fits(value, inside):
            return {}
        total = sum(unit.weight for unit in inside.values()) * len(parts)
        units |= {
            (category, name): ComparisonUnit(u.value / total, u.weight / total, u.cluster)
            for (_, name), u in inside.items()
        }
    return units


def _by_groups_left_out(measure: Measure, side: ScoredMetric, clusters: Clusters) -> Units:
    """Pseudo-values: G times the metric of all, less G - 1 times that without a group."""
    scored, whole = side
    groups = _parted(scored, _dealer(scored, clusters))
    n = len(groups)
    units: Units = {}
    for name in groups:
        rest = [one for other, part in groups.items() if other != name for one in part]
        left = measure(rest).value if rest else whole
        units["", name] = ComparisonUnit(n * whole - (n - 1) * left, 1.0, name)
    return units


def _dealer(
    scored: Sequence[ScoredQuestion], clusters: Clusters
) -> Callable[[ScoredQuestion], str]:
    """Deal clusters out to groups in turn, in the order of the questions."""
    seen = dict.fromkeys(clusters[one.question.question_id] for one in scored)
    group = {cluster: str(number % GROUPS) for number, cluster in enumerate(seen)}
    return lambda one: group[clusters[one.question.question_id]]


def _parted(
    scored: Iterable[ScoredQuestion], key: Callable[[ScoredQuestion], str]
) -> dict[str, list[ScoredQuestion]]:
    parts: dict[str, list[ScoredQuestion]] = defaultdict(list)
    for one in scored:
        parts[key(one)].append(one)
    return dict(parts)


_WAYS: dict[str, Callable[[Measure, Sequence[ScoredQuestion], Clusters], Units]] = {
    "points": _by_points,
    "clusters": _by_cluster,
    "categories": _by_category,
}
