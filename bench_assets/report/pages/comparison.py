"""Data of ``#/compare``: metric units of each model.

The page pairs the two chosen models itself: a thousand models have half a million pairs.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.catalog import Catalog
from bench_assets.comparison.measurements import ConditionQuestions
from bench_assets.comparison.units import ScoredMetric, Units, metric_units
from bench_assets.comparison.verdicts import by_question
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Score
from bench_assets.evaluation.task import ScoredQuestion, Task
from bench_assets.report.site.folder import Site, made_of
from bench_assets.report.site.scripts import slug
from resources.tables.parquet import TableFiles

_FORM = "3"  # of the data: raised when what the page reads changes
_DIGITS = 6


class ComparisonPage:
    """A part of the report: ``compare-<task>-<model>``, by condition."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the units of every model; the leaderboard has reasons for unreadable ones."""
        for task in catalog.tasks:
            asked = {
                name: ConditionQuestions(tables, questions_key(task, name))
                for name in task.conditions
            }
            keys = [evaluation_key(task, name, "metrics") for name in task.conditions]
            for model in sorted({model for key in keys for model in tables.partitions(key)}):
                _write(site, task, asked, model)


def _write(site: Site, task: Task, asked: Mapping[str, ConditionQuestions], model: str) -> None:
    stamps = [
        site.stamps.of(one.tables, key, of)
        for condition, one in asked.items()
        for key, of in ((one.key, ""), *((key, model) for key in _keys(task, condition)))
    ]
    inputs = made_of(_FORM, str(task.version), task.primary_metric, *stamps)
    name = f"compare-{slug(task.name)}-{slug(model)}"
    if site.has(name, inputs):
        return
    found = {condition: _model(task, condition, one, model) for condition, one in asked.items()}
    site.put(name, {condition: one for condition, one in found.items() if one}, inputs)


def _keys(task: Task, condition: str) -> list[list[str]]:
    return [evaluation_key(task, condition, table) for table in ("scores", "metrics")]


def _model(
    task: Task, condition: str, asked: ConditionQuestions, model: str
) -> dict[str, Any] | None:
    """Units of a model's metric; None if it was not evaluated on these questions."""
    tables = asked.tables
    scores, metrics = _keys(task, condition)
    if not (tables.exists(metrics, model) and tables.exists(asked.key)):
        return None
    try:
        measured = tables.read(metrics, Metric, model)
        if not measured or measured[0].questions != asked.data:
            return None
        return _parts(task, asked, tables.read(scores, Score, model))
    except TableError:
        return None


def _parts(task: Task, asked: ConditionQuestions, scores: Sequence[Score]) -> dict[str, Any]:
    """Columns of the metric's units, by kind."""
    measure = task.measures[task.primary_metric]
    given = by_question(scores)
    scored = [
        ScoredQuestion(question, score)
        for question in asked.questions
        for score in given.get(question.question_id, ())
    ]
    side = ScoredMetric(scored, measure(scored).value)
    adds = task.adds.get(task.primary_metric)
    written = {}
    if not isnan(side.value):
        way, units = metric_units(measure, side, asked.clusters, adds)
        written = {way: _columns(way, units, asked)}
    return {
        "data": asked.data,
        "n": len(given),
        "value": side.value,
        "lower_is_better": task.primary_metric in task.lower_is_better,
        "ways": written,
    }


def _columns(way: str, units: Units, asked: ConditionQuestions) -> dict[str, list[float]]:
    """Units as columns; ``units`` has numbers that identify a unit across models."""
    n, numbers = len(asked.questions), asked.numbers
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
