"""Data of ``#/compare``: units of the primary metric for each model.

The page itself pairs the two chosen models, because a thousand models have half a million pairs.
"""

from array import array
from collections.abc import Mapping, Sequence
from math import isclose, isnan
from typing import Any

import numpy as np

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.catalog import Catalog
from bench_assets.comparison.measurements import ConditionQuestions
from bench_assets.comparison.units import ScoredMetric, Units, metric_units
from bench_assets.comparison.verdicts import (
    fully_scored_by_question,
    scored_rows,
    scores_by_question,
)
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Score
from bench_assets.core.stats.means import Floats
from bench_assets.core.stats.paired_tests import cluster_questions
from bench_assets.core.tables.large_tables import Ints, LargeTable, LazyPairs
from bench_assets.evaluation.task import ScoredQuestion, Task
from bench_assets.report.site.folder import Site, combined_digest, slug
from bench_resources.tables.parquet import TableFiles

_FORM = "4"  # version of the data, increased when the page's format changes
_DIGITS = 6


class ComparisonPage:
    """Writes ``compare-<task>-<model>``, by condition."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the units of every model; the leaderboard has the reasons for unreadable ones."""
        for task in catalog.tasks:
            by_condition = {
                name: ConditionQuestions(tables, questions_key(task, name))
                for name in task.conditions
            }
            keys = [evaluation_key(task, name, "metrics") for name in task.conditions]
            for model in sorted({model for key in keys for model in tables.partitions(key)}):
                _write(site, task, by_condition, model)


def _write(
    site: Site, task: Task, by_condition: Mapping[str, ConditionQuestions], model: str
) -> None:
    stamps = [
        site.stamps.of(one.tables, key, of)
        for condition, one in by_condition.items()
        for key, of in ((one.key, ""), *((key, model) for key in _keys(task, condition)))
    ]
    inputs = combined_digest(_FORM, str(task.version), task.primary_metric, *stamps)
    name = f"compare-{slug(task.name)}-{slug(model)}"
    if site.has(name, inputs):
        return
    found = {
        condition: _model(task, condition, one, model) for condition, one in by_condition.items()
    }
    site.put(name, {condition: one for condition, one in found.items() if one}, inputs)


def _keys(task: Task, condition: str) -> list[list[str]]:
    return [evaluation_key(task, condition, table) for table in ("scores", "metrics")]


def _model(
    task: Task, condition: str, condition_questions: ConditionQuestions, model: str
) -> dict[str, Any] | None:
    """Units of a model's metric; None if it was not evaluated on these questions."""
    tables = condition_questions.tables
    scores, metrics = _keys(task, condition)
    if not (tables.exists(metrics, model) and tables.exists(condition_questions.key)):
        return None
    try:
        measured = tables.read(metrics, Metric, model)
        if not measured or measured[0].questions != condition_questions.data:
            return None
        rows = tables.rows(scores, Score, model)
        parts = (
            _large_parts(task, condition_questions, rows) if isinstance(rows, LargeTable) else None
        )
        return parts or _parts(task, condition_questions, rows)
    except TableError:
        return None


def _parts(
    task: Task, condition_questions: ConditionQuestions, scores: Sequence[Score]
) -> dict[str, Any]:
    """Columns of the metric's units, by the way they are paired (see ``metric_units``)."""
    measure = task.measures[task.primary_metric]
    by_question = scores_by_question(scores)
    scored = [
        one
        for question in condition_questions.questions
        for one in scored_rows(question, by_question.get(question.question_id, []))[0]
    ]
    side = ScoredMetric(scored, measure(scored).value)
    adds = task.adds.get(task.primary_metric)
    written = {}
    if not isnan(side.value):
        way, units = metric_units(measure, side, condition_questions.clusters, adds)
        written = {way: _columns(way, units, condition_questions)}
    n = len(fully_scored_by_question(scores))
    return _task_fields(task, condition_questions, n, side.value) | {"ways": written}


def _task_fields(
    task: Task, condition_questions: ConditionQuestions, n: int, value: float
) -> dict[str, Any]:
    return {
        "data": condition_questions.data,
        "n": n,
        "value": value,
        "lower_is_better": task.is_lowest_best,
    }


def _large_parts(
    task: Task, condition_questions: ConditionQuestions, scores: LargeTable[Score]
) -> dict[str, Any] | None:
    """As ``_parts``, for a table not held in memory; None if its units are not questions."""
    measure, adds = task.measures[task.primary_metric], task.adds.get(task.primary_metric)
    rows, places = scores.ordered_rows(condition_questions.ids)
    points, most = _numbers(rows, "points"), _numbers(rows, "max_points")
    is_given = np.zeros(len(condition_questions.ids), bool)
    is_given[places[::-1]] = most[::-1] != 0  # the first draw counts, as in ``by_question``
    is_given[places[np.isnan(points)]] = False
    chosen = np.flatnonzero(is_given[places])
    pairs = array("I", places), array("I", chosen)
    scored = LazyPairs(condition_questions.questions, rows, ScoredQuestion, *pairs)
    value = measure(scored).value
    sample = list(scored.at(_spread(len(scored))))
    probe = ScoredMetric(sample, measure(sample).value)
    way, _ = metric_units(measure, probe, cluster_questions([one.question for one in sample]), adds)
    if way == "own" and adds:
        gained, weights = np.array(adds(scored), float), np.ones(len(chosen))
    else:
        gained, weights = points[chosen], most[chosen]
    values, weights = (_mean_of_each(one, places[chosen]) for one in (gained, weights))
    if way == "points" and not isclose(values.sum() / weights.sum(), value, rel_tol=1e-9):
        return None
    if way not in ("own", "points") or isnan(value):
        return None
    units = np.flatnonzero(is_given)
    columns = {
        "units": units,
        "clusters": condition_questions.cluster_of_each[units],
        "values": [round(one, _DIGITS) for one in values.tolist()],
        "weights": [round(one, _DIGITS + 3) for one in weights.tolist()],
    }
    return _task_fields(task, condition_questions, len(units), value) | {"ways": {way: columns}}


_RUNS, _RUN = 16, 512  # runs of rows that determine the kind of units of a large table


def _spread(n: int) -> list[int]:
    """Positions of ``_RUNS`` runs of rows, spread over a table."""
    begins = np.linspace(0, max(0, n - _RUN), _RUNS, dtype=int)
    return sorted({place for at in begins.tolist() for place in range(at, min(n, at + _RUN))})


def _numbers(rows: LargeTable[Score], name: str) -> Floats:
    """A column of numbers; NaN for missing values."""
    return np.concatenate([table.column(0).to_numpy() for table in rows.tables([name])])


def _mean_of_each(values: Floats, places: Ints) -> Floats:
    """Mean over the samples of each question that has any."""
    n = np.bincount(places)
    return np.bincount(places, values)[n > 0] / n[n > 0]


def _columns(
    way: str, units: Units, condition_questions: ConditionQuestions
) -> dict[str, list[float]]:
    """Units as columns; the numbers in ``units`` identify a unit across models."""
    n, numbers = len(condition_questions.questions), condition_questions.numbers
    columns: dict[str, list[float]] = {
        name: [] for name in ("units", "clusters", "values", "weights")
    }
    for (category, name), unit in units.items():
        if not unit.weight:
            continue
        kinds = ("pair",) if way == "pairs" else ("question", "cluster")
        place = (
            int(name)
            if way == "groups"
            else next(numbers[kind, name] for kind in kinds if (kind, name) in numbers)
        )
        columns["units"].append(place + n * (1 + numbers["category", category] if category else 0))
        columns["clusters"].append(place if way == "groups" else numbers["cluster", unit.cluster])
        columns["values"].append(round(unit.value, _DIGITS))
        columns["weights"].append(round(unit.weight, _DIGITS + 3))
    return columns
