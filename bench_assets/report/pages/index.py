"""Data of the first page: tasks, models, leaderboard, mean ranks."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from bench_assets.asset_factory.evaluation_tables import describe_questions, evaluation_key
from bench_assets.asset_factory.partial_results import SO_FAR, partial_tables
from bench_assets.catalog import Catalog
from bench_assets.comparison.measurements import primary_cells, to_columns
from bench_assets.comparison.reader_tests import null_tests, reader_test
from bench_assets.core.schema.elicitation import split_elicited_name
from bench_assets.core.schema.metric_text import MOST_UNREAD, format_mixed
from bench_assets.core.schema.published_numbers import PublishedNumber
from bench_assets.core.schema.rows import READ_FIELDS, UNKNOWN, LeaderboardRow
from bench_assets.core.schema.signature import partial_part
from bench_assets.core.schema.training_runs import parse_step
from bench_assets.core.stats.ranks import rank_models
from bench_assets.evaluation.task import Task
from bench_assets.report.site.folder import Site, slug
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import EMBEDDED_MODELS, baselines
from bench_resources.tables.parquet import TableFiles

COLUMNS = (
    *("task", "model", "condition", "edition", "value", "low", "high", "n_scored", "n_unscored"),
    *("n_failed", "n_refused", *READ_FIELDS, "served", "mixed", "n_clusters", "largest_cluster"),
    *("n_rejected", "n_expired", "constant", "stale", "unreadable", "partial", "people", "reader"),
)
"""Columns of a leaderboard row. ``stale``, ``unreadable``: the reason; ``partial``: the evaluated
part of the questions; ``people``: see ``Metric``; ``reader``: null test of the reader."""


class IndexPage:
    """Writes ``index``."""

    def __init__(
        self,
        standings: Sequence[LeaderboardRow],
        published: Sequence[PublishedNumber],
        settings: Settings,
        missing: Sequence[str] = (),
    ) -> None:
        """Store the present leaderboard, published numbers, configuration and missing numbers."""
        self._standings = [row for row in standings if row.is_measured]
        self._published = published
        self._settings = settings
        self._missing = missing

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the leaderboard's data; adds the tab "compare" if several models have values."""
        rows = self._rows(tables, catalog.tasks)
        tasks = [self._task_facts(tables, task, rows) for task in catalog.tasks]
        models = sorted({row["model"] for row in rows})
        measured_models = {row["model"] for row in rows if row["value"] is not None}
        if len(measured_models) > 1:
            site.tabs.append("compare")
        site.put(
            "index",
            {
                "version": version("bench-assets"),
                "measured": _last_measured(tables, catalog.tasks),
                "missing": self._missing,
                "running": list(_running(self._settings.home, catalog.tasks, rows)),
                "tasks": tasks,
                "models": [self._model_facts(name) for name in models],
                "rows": to_columns(rows, COLUMNS),
                "published": [asdict(row) for row in self._published_headlines(catalog.tasks)],
                "rankings": _rankings(rows, catalog.tasks, baselines(self._settings.models)),
            },
        )

    def _rows(self, tables: TableFiles, tasks: Iterable[Task]) -> list[dict[str, Any]]:
        """Rows of the leaderboard, of the other conditions and of partial evaluations, in order."""
        rows = [_to_page_row(row) for row in self._standings]
        for task in tasks:
            for condition in list(task.conditions)[1:]:  # the first is in the leaderboard
                rows += _condition_rows(tables, task, condition)
            rows += _partial_rows(self._settings.home, task, rows)
        tests = null_tests(tables)
        for row in rows:
            row["people"] = row.get("people") or ""
            row["reader"] = reader_test(row["task"], row.get("signature") or "", tests)
        return sorted(rows, key=lambda row: (row["task"], row["condition"], row["model"]))

    def _task_facts(
        self, tables: TableFiles, task: Task, rows: Iterable[Mapping[str, Any]]
    ) -> object:
        description = describe_questions(tables, task)
        measured = {row["condition"] for row in rows if row["task"] == task.name}
        return {
            "name": task.name,
            "slug": slug(task.name),
            "title": task.display_title,
            "suite": task.suite,
            "asked_of": task.asked_of,
            "about": task.condition("main").about,
            "purpose": task.purpose or task.condition("main").about,
            "metric": task.primary_metric,
            "lower_is_better": sorted(task.lower_is_better),
            "chance": description.chance,
            "questions": description.n,
            "edition": description.edition,
            "conditions": {name: condition.about for name, condition in task.conditions.items()},
            "measured": [name for name in task.conditions if name in measured],
        }

    def _model_facts(self, name: str) -> object:
        step = parse_step(name)
        return {
            "name": name,
            "slug": slug(name),
            "kind": self._kind(name),
            "run": step.run if step else None,
            "step": step.step if step else None,
        }

    def _kind(self, name: str) -> str:
        """Kind of a configured model, "elicited" or "checkpoint"; "" of others."""
        specs = {**EMBEDDED_MODELS, **self._settings.models}
        if name in specs:
            return specs[name].kind
        if split_elicited_name(name):
            return "elicited"
        return "checkpoint" if parse_step(name) else ""

    def _published_headlines(self, tasks: Iterable[Task]) -> list[PublishedNumber]:
        primary = {task.name: task.primary_metric for task in tasks}
        return [
            row
            for row in self._published
            if row.category == "all" and primary.get(row.task) == row.metric
        ]


def _to_page_row(row: LeaderboardRow) -> dict[str, Any]:
    unreadable = row.source if row.n_scored is None else ""
    edition = "" if row.edition == UNKNOWN else row.edition  # "": shown with every edition
    return {
        **asdict(row),
        "task": row.task.partition("+")[0],
        "condition": "main",
        # Results of another source are shown as an edition of their own.
        "edition": f"{row.edition}, {row.place}" if row.place else edition,
        "value": None if isnan(row.value) else row.value,
        "unreadable": unreadable,
        "partial": partial_part(row.signature),
        "mixed": format_mixed(row.signature),
    }


def _condition_rows(tables: TableFiles, task: Task, condition: str) -> list[dict[str, Any]]:
    """Rows of a condition, also of models whose metrics are unreadable."""
    cells = primary_cells(tables, task, condition)
    rows = [
        {
            **row,
            "unreadable": "",
            "partial": partial_part(row["signature"]),
            "mixed": format_mixed(row["signature"]),
        }
        for row in cells.rows
    ]
    return rows + [
        _unreadable_row(task, condition, model, reason)
        for model, reason in cells.unreadable.items()
    ]


def _partial_rows(
    home: Path, task: Task, rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Numbers of partial evaluations, for models without a full one."""
    complete = {(row["condition"], row["model"]) for row in rows if row["task"] == task.name}
    return [
        {**row, "stale": ""}
        for condition in task.conditions
        for row in _condition_rows(partial_tables(home), task, condition)
        if (condition, row["model"]) not in complete
    ]


def _running(
    home: Path, tasks: Iterable[Task], rows: Iterable[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Evaluations in progress or interrupted, with the time of their last snapshot."""
    tasks_by_name = {task.name: task for task in tasks}
    for row in rows:
        if (row["partial"] or "").endswith(SO_FAR):
            key = evaluation_key(tasks_by_name[row["task"]], row["condition"], "metrics")
            written_at = partial_tables(home).written(key, row["model"])
            title = tasks_by_name[row["task"]].display_title
            yield {"model": row["model"], "task": title, "part": row["partial"], "at": written_at}


def _unreadable_row(task: Task, condition: str, model: str, reason: str) -> dict[str, Any]:
    texts = {"stale": "", "unreadable": reason, "partial": "", "edition": ""}
    names = {"task": task.name, "model": model, "condition": condition}
    return {**dict.fromkeys(COLUMNS), **texts, **names}


def _rankings(
    rows: Iterable[Mapping[str, Any]], tasks: Iterable[Task], unranked_models: Container[str]
) -> list[object]:
    """Mean ranks by edition and condition; encoders and baselines are not ranked."""
    signs = {
        task.name: -1 if task.is_lowest_best else 1 for task in tasks if task.asked_of == "model"
    }
    values: dict[tuple[str, str], dict[str, dict[str, float]]] = defaultdict(dict)
    for row in rows:
        task, model = row["task"], row["model"]
        if task in signs and model not in unranked_models and _is_reliable(row):
            task_values = values[row["edition"], row["condition"]].setdefault(task, {})
            task_values[model] = signs[task] * row["value"]
    rankings: list[object] = []
    for (edition, condition), values_by_task in sorted(values.items()):
        ranking = rank_models(values_by_task, np.random.default_rng(0))
        if ranking.tasks:
            rankings.append({"edition": edition, "condition": condition, **asdict(ranking)})
    return rankings


def _is_reliable(row: Mapping[str, Any]) -> bool:
    """Whether a row has a current number of all questions and nearly all responses."""
    if row["stale"] or row["unreadable"] or row["partial"] or row["n_failed"]:
        return False
    return row["value"] is not None and (row["unread"] or 0.0) <= MOST_UNREAD


def _last_measured(tables: TableFiles, tasks: Iterable[Task]) -> str:
    """Time of the newest metric, in UTC; "" if there is none."""
    keys = [
        evaluation_key(task, condition, "metrics")
        for task in tasks
        for condition in task.conditions
    ]
    times = [blob.at for key in keys for blob in tables.blobs.list(tables.below(key))]
    return f"{datetime.fromtimestamp(max(times), UTC):%Y-%m-%d %H:%M} UTC" if times else ""
