"""Data of ``#/compare``: units of the primary metric for each model.

The page itself pairs the two chosen models, because a thousand models have half a million pairs.
"""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.catalog import Catalog
from bench_assets.comparison.comparable import compared_parts
from bench_assets.comparison.measurements import ConditionQuestions, measured_models
from bench_assets.comparison.verdicts import (
    fully_scored_by_question,
    scored_rows,
    scores_by_question,
)
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Score
from bench_assets.evaluation.task import ScoredQuestion, Task
from bench_assets.evaluation.units import ScoredMetric, Units, units_of_sides
from bench_assets.report.site.folder import Site, combined_digest, slug
from bench_resources.tables.parquet import TableFiles

_FORMAT = "5"  # version of the page's data format
_DIGITS = 6  # decimals of a number


class ComparisonPage:
    """Writes ``compare-<task>-<model>``, by condition."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the units of every model; the leaderboard has the reasons for unreadable ones."""
        for task in catalog.tasks:
            by_condition = {
                name: ConditionQuestions(tables, questions_key(task, name))
                for name in task.conditions
            }
            for model in measured_models(tables, task):
                _write_model(site, task, by_condition, model)


def _write_model(
    site: Site, task: Task, by_condition: Mapping[str, ConditionQuestions], model: str
) -> None:
    """Write the units of a model under each condition, unless they are up to date."""
    stamps = []
    for condition, questions in by_condition.items():
        stamps.append(site.stamps.of(questions.tables, questions.key))
        keys = _evaluation_keys(task, condition)
        stamps += [site.stamps.of(questions.tables, key, model) for key in keys]
    inputs = combined_digest(_FORMAT, str(task.version), task.primary_metric, *stamps)
    name = f"compare-{slug(task.name)}-{slug(model)}"
    if site.has(name, inputs):
        return
    units_by_condition = {}
    for condition, questions in by_condition.items():
        if units := _read_units(task, condition, questions, model):
            units_by_condition[condition] = units
    site.put(name, units_by_condition, inputs)


def _evaluation_keys(task: Task, condition: str) -> list[list[str]]:
    return [evaluation_key(task, condition, table) for table in ("scores", "metrics")]


def _read_units(
    task: Task, condition: str, condition_questions: ConditionQuestions, model: str
) -> dict[str, Any] | None:
    """Units of a model's metric; None if unreadable, or not evaluated on these questions."""
    tables = condition_questions.tables
    scores, metrics = _evaluation_keys(task, condition)
    if not (tables.exists(metrics, model) and tables.exists(condition_questions.key)):
        return None
    try:
        measured = tables.read(metrics, Metric, model)
        if not measured or measured[0].questions != condition_questions.data:
            return None
        units = _metric_units(task, condition_questions, tables.read(scores, Score, model))
        row = next((row for row in measured if row.metric == task.primary_metric), measured[0])
        return {**units, "compared": compared_parts(row)}
    except TableError:
        return None


def _metric_units(
    task: Task, condition_questions: ConditionQuestions, scores: Sequence[Score]
) -> dict[str, Any]:
    """A model's metric and, unless it is NaN, its units as columns by the way they are paired."""
    measure = task.measures[task.primary_metric]
    by_question = scores_by_question(scores)
    scored_questions: list[ScoredQuestion] = []
    for question in condition_questions.questions:
        (rows,) = scored_rows(question, by_question.get(question.question_id, []))
        scored_questions += rows
    metric = ScoredMetric(scored_questions, measure(scored_questions).value)
    columns = {}
    if not isnan(metric.value):
        adds = task.adds.get(task.primary_metric)
        way, (units,) = units_of_sides(measure, [metric], condition_questions.clusters, adds)
        columns[way] = _columns(way, units, condition_questions)
    return {
        "data": condition_questions.data,
        "n": len(fully_scored_by_question(scores)),
        "value": metric.value,
        "lower_is_better": task.is_lowest_best,
        "ways": columns,
    }


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
        index = int(name) if way == "groups" else _first_question(way, name, numbers)
        cluster = index if way == "groups" else numbers["cluster", unit.cluster]
        category_number = 1 + numbers["category", category] if category else 0
        # One number for both: a unit may occur in several categories.
        columns["units"].append(index + n * category_number)
        columns["clusters"].append(cluster)
        columns["values"].append(round(unit.value, _DIGITS))
        columns["weights"].append(round(unit.weight, _DIGITS + 3))  # some are small
    return columns


def _first_question(way: str, name: str, numbers: Mapping[tuple[str, str], int]) -> int:
    """Index of the first question of a unit: a pair, a question or a cluster."""
    if way == "pairs":
        return numbers["pair", name]
    kind = "question" if ("question", name) in numbers else "cluster"
    return numbers[kind, name]
