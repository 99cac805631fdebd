"""Metrics of a task over all conditions as columns, and its questions, read on demand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.provenance import json_digest
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import Signature, short_digest
from bench_assets.core.stats.clusters import cluster_numbers, cluster_questions, pair_key
from bench_assets.evaluation.task import Task
from bench_resources.tables.parquet import Table, TableFiles, read_question_ids

QUESTIONS_CHANGED = "measured on questions that have changed since"

_ALL = "SELECT * FROM metrics WHERE task = $task ORDER BY model, metric, category"
_PRIMARY = """
SELECT * FROM metrics WHERE task = $task AND metric = $metric AND category = $category
ORDER BY model
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Cells of results tables, and which tables could not be read."""

    rows: list[dict[str, Any]]  # columns of ``Metric``, and ``stale``
    unreadable: Mapping[str, str]  # model -> why


def all_cells(tables: TableFiles, task: Task, condition: str) -> Cells:
    """All metrics under a condition."""
    return _query_cells(tables, task, condition, _ALL, {"task": task.name})


def primary_cells(tables: TableFiles, task: Task, condition: str) -> Cells:
    """The primary metric of every model under a condition, over all questions."""
    parameters = {"task": task.name, "metric": task.primary_metric, "category": "all"}
    return _query_cells(tables, task, condition, _PRIMARY, parameters)


def measured_models(tables: TableFiles, task: Task) -> list[str]:
    """Models with a table of metrics under any condition, by name."""
    keys = [evaluation_key(task, condition, "metrics") for condition in task.conditions]
    return sorted({model for key in keys for model in tables.partitions(key)})


def metrics_version(tables: TableFiles, task: Task) -> str:
    """Digest of the versions of all tables that ``all_cells`` reads, without reading them."""
    keys = [
        key
        for condition in task.conditions
        for key in (evaluation_key(task, condition, "metrics"), questions_key(task, condition))
    ]
    return json_digest([[tables.place(key), tables.versions(key)] for key in keys])


def to_columns(rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, list[Any]]:
    """Convert rows to columns, with repeated texts as indices.

    >>> to_columns([{"m": "a", "v": 1.0}, {"m": "a", "v": 2.0}], ["m", "v"])
    {'m': [['a'], [0, 0]], 'v': [1.0, 2.0]}
    """
    columns: dict[str, list[Any]] = {}
    for name in names:
        values = [row[name] for row in rows]
        if values and all(isinstance(value, str) for value in values):
            indices = {text: index for index, text in enumerate(dict.fromkeys(values))}
            columns[name] = [list(indices), [indices[value] for value in values]]
        else:
            columns[name] = values
    return columns


def _query_cells(
    tables: TableFiles, task: Task, condition: str, sql: str, parameters: Mapping[str, str]
) -> Cells:
    """Query the metrics under a condition, with people's corrections and what is stale."""
    from bench_assets.comparison.people_checks import with_people  # imports statistics

    key = evaluation_key(task, condition, "metrics")
    models = tables.partitions(key)
    if not models:
        return Cells(rows=[], unreadable={})
    damaged: dict[Table, str] = {}
    try:
        table = tables.query(sql, {"metrics": ([key], Metric)}, damaged, **parameters)
        questions_digest = short_digest(tables.digest(questions_key(task, condition)) or "")
    except TableError as error:
        return Cells(rows=[], unreadable=dict.fromkeys(models, str(error)))
    defaults = {field.name: None for field in fields(Metric)}  # older tables lack some columns
    rows = [defaults | row for row in table.to_pylist() if row["condition"] == condition]
    metrics = with_people(tables, task, [Metric(**row | {"people": ""}) for row in rows])
    for row, metric in zip(rows, metrics, strict=True):
        row |= {name: getattr(metric, name) for name in defaults}
        row["stale"] = "" if _questions_digest(row) == questions_digest else QUESTIONS_CHANGED
        row["value"] = None if row["value"] is None or isnan(row["value"]) else row["value"]
    return Cells(rows=rows, unreadable={model: reason for (_, model), reason in damaged.items()})


def _questions_digest(row: Mapping[str, Any]) -> str:
    """Digest of the questions of a metric; "" if it is unknown."""
    try:
        return row["data"] or Signature.parse(row["signature"] or "").parts.get("data", "")
    except TableError:
        return ""


@dataclass(frozen=True)
class ConditionQuestions:
    """The questions of a condition."""

    tables: TableFiles
    key: Sequence[str]

    @cached_property
    def questions(self) -> Sequence[Question]:
        """The rows of the table."""
        return self.tables.read(self.key, Question)

    @cached_property
    def data(self) -> str:
        """Short digest of the questions, as in signatures."""
        return short_digest(self.tables.digest(self.key) or "")

    @cached_property
    def ids(self) -> pa.Array:
        """Ids of the questions, in their order."""
        return read_question_ids(self.tables, self.key)

    @cached_property
    def clusters(self) -> dict[str, str]:
        """Question id -> cluster."""
        return cluster_questions(self.questions)

    @cached_property
    def numbers(self) -> dict[tuple[str, str], int]:
        """Index of the first question of each unit, by (kind, name): ("category", "art")."""
        first_indices: dict[tuple[str, str], int] = {}
        for index, question in enumerate(self.questions):
            name = question.question_id
            first_indices["question", name] = index
            first_indices.setdefault(("pair", pair_key(question)), index)
            first_indices.setdefault(("cluster", self.clusters[name]), index)
            first_indices.setdefault(("category", question.category), index)
        return first_indices

    @cached_property
    def cluster_of_each(self) -> npt.NDArray[np.int32]:
        """Cluster of each question, as the index of its first question."""
        return np.array(cluster_numbers(self.questions), np.int32)

    @cached_property
    def pair_of_each(self) -> npt.NDArray[np.int32]:
        """Pair of each question, as the index of its first question."""
        first_indices: dict[str, int] = {}
        pairs = enumerate(map(pair_key, self.questions))
        return np.array([first_indices.setdefault(pair, index) for index, pair in pairs], np.int32)
