"""Data of a task's page: measured and published cells; time, tokens and cost; confusions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.catalog import Catalog
from bench_assets.comparison.measurements import all_cells, metrics_version, to_columns
from bench_assets.comparison.people_checks import people_state
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.metric_text import format_mixed
from bench_assets.core.schema.provenance import json_digest
from bench_assets.core.schema.published_numbers import PublishedNumber
from bench_assets.core.schema.rows import READ_FIELDS, LeaderboardRow, Prediction, Question, Score
from bench_assets.core.schema.signature import partial_part
from bench_assets.evaluation.task import Task
from bench_assets.report.site.folder import Site, slug
from bench_resources.config.sections.base import ModelSpec
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.tables.parquet import TableFiles

_USAGE = """
SELECT model, count(*) AS responses, sum(prompt_tokens)::BIGINT AS prompt_tokens,
  sum(completion_tokens)::BIGINT AS completion_tokens, sum(seconds) AS seconds
FROM predictions WHERE error = '' GROUP BY model ORDER BY model
"""
_CONFUSION = """
SELECT model, questions.answer[1] AS "right", coalesce(scores.answer[1], '') AS chosen,
  count(*) AS n
FROM scores JOIN questions USING (question_id)
WHERE kind = 'choice' AND len(questions.answer) = 1 AND len(scores.answer) <= 1 AND error = ''
GROUP BY ALL ORDER BY ALL
"""
_MILLION = 1e6  # tokens that a price is for


def prices_of(models: Mapping[str, ModelSpec]) -> dict[str, tuple[float, float]]:
    """Prices per million prompt and response tokens, of models with a price."""
    return {
        name: (spec.price_in, spec.price_out)
        for name, spec in models.items()
        if isinstance(spec, ServerSpec) and (spec.price_in or spec.price_out)
    }


def usage(
    tables: TableFiles, task: Task, condition: str, prices: Mapping[str, tuple[float, float]]
) -> list[dict[str, Any]]:
    """Sum up the responses, tokens, seconds and cost of each model; None for unknown values.

    Failed requests and unreadable tables are left out. ``prices``: see ``prices_of``.
    """
    key = evaluation_key(task, condition, "predictions")
    if not tables.known(key):
        return []
    rows = tables.query(_USAGE, {"predictions": ([key], Prediction)}, unreadable={}).to_pylist()
    return [
        {"condition": condition, **row, "cost": _cost(row, prices.get(row["model"]))}
        for row in rows
    ]


def _cost(row: Mapping[str, Any], prices: tuple[float, float] | None) -> float | None:
    """Cost at prices of a million prompt and response tokens; None if any of them is unknown.

    >>> _cost({"prompt_tokens": 2_000_000, "completion_tokens": 500_000}, (0.5, 2.0))
    2.0
    """
    if prices is None or row["prompt_tokens"] is None or row["completion_tokens"] is None:
        return None
    price_in, price_out = prices
    cost = row["prompt_tokens"] * price_in + row["completion_tokens"] * price_out
    return float(cost / _MILLION)


def confusion(tables: TableFiles, task: Task, condition: str) -> list[dict[str, Any]]:
    """Count the pairs of right and chosen option for each model; ``chosen`` "": no option."""
    key, question_table = evaluation_key(task, condition, "scores"), questions_key(task, condition)
    if not tables.known(key):
        return []
    views = {"scores": ([key], Score), "questions": ([question_table], Question)}
    try:
        rows = tables.query(_CONFUSION, views, unreadable={}).to_pylist()
    except TableError:  # unreadable questions are reported with the samples
        return []
    return [{"condition": condition, **row} for row in rows]


_METRIC_COLUMNS = (
    *("model", "condition", "edition", "metric", "category", "value", "low", "high"),
    *("n_scored", "n_unscored", "n_failed", "n_no_answer", "n_refused", *READ_FIELDS),
    *("served", "mixed", "n_clusters", "largest_cluster", "n_rejected", "n_expired"),
    *("constant", "shuffled", "baselines", "people", "stale", "partial", "signature"),
)
_USAGE_COLUMNS = (
    *("model", "condition", "responses", "prompt_tokens", "completion_tokens"),
    *("seconds", "cost"),
)
_CONFUSION_COLUMNS = ("model", "condition", "right", "chosen", "n")
_PUBLISHED_COLUMNS = (
    *("model", "condition", "metric", "category"),
    *("value", "printed", "source", "note"),
)


class TaskPages:
    """Writes ``task-<slug>``."""

    def __init__(
        self,
        standings: Sequence[LeaderboardRow],
        published: Sequence[PublishedNumber],
        models: Mapping[str, ModelSpec],
    ) -> None:
        """Store the stale rows of the leaderboard, the published numbers and the prices."""
        self._stale: dict[str, dict[str, str]] = defaultdict(dict)
        for row in standings:
            if row.stale:
                self._stale[row.task.partition("+")[0]][row.model] = row.stale
        self._published = published
        self._prices = prices_of(models)

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the data of every task, unless they are up to date."""
        for task in catalog.tasks:
            printed = [row for row in self._published if row.task == task.name]
            stale = self._stale[task.name]
            inputs = json_digest(
                [
                    metrics_version(tables, task),
                    metrics_version(partial_tables(tables.home), task),
                    [asdict(row) for row in printed],
                    stale,
                    _facts(task),
                    self._prices,
                    people_state(tables, task),
                ]
            )
            name = f"task-{slug(task.name)}"
            if not site.has(name, inputs):
                page = _task_data(tables, task, printed, stale) | self._usage(tables, task)
                site.put(name, page, inputs)

    def _usage(self, tables: TableFiles, task: Task) -> dict[str, Any]:
        """Usage of responses, and confusion of choices, under every condition."""
        usage_rows, confusion_rows = list[dict[str, Any]](), list[dict[str, Any]]()
        for condition in task.conditions:
            complete = usage(tables, task, condition, self._prices)
            complete_models = {row["model"] for row in complete}
            partial = usage(partial_tables(tables.home), task, condition, self._prices)
            usage_rows += complete
            usage_rows += [row for row in partial if row["model"] not in complete_models]
            confusion_rows += confusion(tables, task, condition)
        return {
            "usage": to_columns(usage_rows, _USAGE_COLUMNS),
            "confusion": to_columns(confusion_rows, _CONFUSION_COLUMNS),
        }


def _task_data(
    tables: TableFiles, task: Task, printed: Sequence[PublishedNumber], stale: Mapping[str, str]
) -> dict[str, Any]:
    """Facts, metrics and published numbers of a task; ``stale``: reasons by model."""
    rows: list[dict[str, Any]] = []
    unreadable = []
    for condition in task.conditions:
        cells = all_cells(tables, task, condition)
        rows += [*cells.rows, *_partial_rows(tables, task, condition)]
        unreadable += [
            {"model": model, "condition": condition, "why": reason}
            for model, reason in cells.unreadable.items()
        ]
    for row in rows:
        row["mixed"] = format_mixed(row["signature"])
        row["partial"] = partial_part(row["signature"])
        if row["condition"] == "main" and not row["stale"]:
            row["stale"] = stale.get(row["model"], "")
    return {
        **_facts(task),
        "categories": _ordered_categories(task, rows),
        "rows": to_columns(rows, _METRIC_COLUMNS),
        "published": to_columns([asdict(row) for row in printed], _PUBLISHED_COLUMNS),
        "unreadable": unreadable,
    }


def _partial_rows(tables: TableFiles, task: Task, condition: str) -> list[dict[str, Any]]:
    """Metrics of partial evaluations, for models without a complete one."""
    complete_models = set(tables.known(evaluation_key(task, condition, "metrics")))
    cells = all_cells(partial_tables(tables.home), task, condition)
    return [{**row, "stale": ""} for row in cells.rows if row["model"] not in complete_models]


def _facts(task: Task) -> dict[str, Any]:
    return {
        "version": task.version,
        "metrics": list(task.measures),
        "scorers": list(task.scorers),
        "counts": dict(task.counts),
    }


def _ordered_categories(task: Task, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Categories in the paper's order, then the others; without "all"."""
    measured = dict.fromkeys(row["category"] for row in rows)
    in_paper = [name for name in task.counts if name in measured]
    return [name for name in dict.fromkeys((*in_paper, *measured)) if name != "all"]
