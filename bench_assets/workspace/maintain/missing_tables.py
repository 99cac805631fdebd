"""Finds missing tables for ``bench home verify``: tables that were materialized and are gone.

Dagster's event log names the tables that were materialized; metrics imply the other tables of their
evaluation. A table with neither may never have been materialized, and is not reported.
"""

from collections.abc import Collection, Iterator
from contextlib import suppress
from shlex import quote
from typing import Any, NamedTuple, TypeAlias

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import (
    AUDIT,
    CONSTANTS,
    evaluation_key,
    questions_key,
)
from bench_assets.core.schema.errors import HomeError
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.evaluation.task import Task
from bench_assets.workspace.maintain.verification_findings import VerificationFinding
from bench_assets.workspace.materialization import asset_selections
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.tables.file_bytes import table_name
from bench_resources.tables.parquet import Table

_SHOWN = "SELECT DISTINCT unnest(images) AS image FROM tables"
_STORED = "SELECT sha256 AS image FROM tables"


def rebuild_command(bench: Workbench, key: dg.AssetKey, model: str = "") -> str:
    """Name the command that rebuilds a table; "" if no asset produces it any more."""
    graph = bench.definitions.resolve_asset_graph()
    if key not in graph.get_all_asset_keys():
        return ""
    if key in asset_selections.LEADERBOARD.resolve(graph):
        return "bench leaderboard"
    suite, name = key.path[0], "/".join(key.path[1:])
    if key in asset_selections.dataset_build(suite).resolve(graph):
        return f"bench tables questions {suite}"
    for task, condition in _conditions(bench, suite):
        selection = asset_selections.evaluation(task, condition, graph.get_all_asset_keys())
        if key in selection.resolve(graph):
            chosen = "" if condition == "main" else f" --condition {condition}"
            return f"bench evaluate {task.name} --model {quote(model)}{chosen}"
        needed = asset_selections.condition_inputs(task, condition, graph.get_all_asset_keys())
        constants = [*questions_key(task, condition)[:-1], CONSTANTS]
        if key in needed.resolve(graph) or key.path == constants:
            return f"bench evaluate {task.name} --condition {condition} --model MODEL"
    if key.path[-1] == AUDIT:
        command = f"bench audit run {'/'.join(key.path[:-1])}"
    else:
        command = f"bench tables paper {suite} {name}"
    return command + (f" --model {quote(model)}" if model else "")


def suites_by_image(bench: Workbench) -> dict[str, str]:
    """Map images to suites, by the tables that name them."""
    by_image: dict[str, str] = {}
    rows: tuple[tuple[str, type[Any]], ...] = ((_SHOWN, Question), (_STORED, StoredImage))
    for suite in bench.catalog.evaluable.names:
        for tables in (*bench.tables.elsewhere(suite), bench.tables):
            keys = list(tables.unpartitioned_keys(suite))
            for sql, row_type in rows:
                other_columns: dict[
                    Table, str
                ] = {}  # tables of other row types, and damaged tables
                rows_read = tables.query(sql, {"tables": (keys, row_type)}, other_columns)
                by_image |= dict.fromkeys(rows_read.column("image").to_pylist(), suite)
    return by_image


def invalidate_suite(bench: Workbench, suite: str) -> None:
    """Mark a suite's question tables as stale: the ledger finds them made by unknown code."""
    with suppress(HomeError):  # a read-only home cannot be rebuilt anyway
        for task in bench.catalog.tasks_of(suite):
            key = dg.AssetKey(questions_key(task, "main"))
            if bench.ledger.event(key):
                event = dg.AssetMaterialization(key, description="Its images are damaged.")
                bench.instance.report_runless_asset_event(event)


def _conditions(bench: Workbench, suite: str) -> Iterator[tuple[Task, str]]:
    for task in bench.catalog.tasks_of(suite):
        for condition in sorted(task.conditions, key=lambda name: name != "main"):
            yield task, condition


_MADE_BEFORE_METRICS = ("predictions", "judgements", "scores")

_Key: TypeAlias = tuple[str, ...]


class _TableRecord(NamedTuple):
    """A table that was materialized."""

    root: str  # folder: "", or that of another source
    key: _Key
    model: str  # "" if the table is not per model

    @property
    def name(self) -> str:
        """Name of the table's blob."""
        return "/".join((*filter(None, [self.root]), table_name(self.key, self.model)))


class _EvaluationRecord(NamedTuple):
    """A finished evaluation."""

    root: str
    task: str
    condition: str
    model: str


def missing_tables(bench: Workbench, listed: Collection[str]) -> Iterator[VerificationFinding]:
    """Find the missing tables, each with the command that rebuilds it.

    Raises:
        HomeError: If the store of tables cannot be reached.
    """
    names = set(listed)
    for record in sorted(set(_recorded_tables(bench, listed))):
        if record.name not in names and not bench.tables.blobs.exists(record.name):  # written since
            yield _missing_finding(bench, record)


def _missing_finding(bench: Workbench, record: _TableRecord) -> VerificationFinding:
    tables, key, model = bench.tables.locate_file(record.name)
    is_current = record.root == bench.tables.root(key[0])
    advice = "" if is_current else "; it is of another source, name that with --source"
    return VerificationFinding(
        what="/".join(key) + (f" of {model}" if model else ""),
        state="missing",
        n=1,
        why=f"{tables.place(key, model)}: missing, although it was built{advice}",
        command=rebuild_command(bench, dg.AssetKey(key), model) if is_current else "",
    )


def _recorded_tables(bench: Workbench, listed: Collection[str]) -> Iterator[_TableRecord]:
    """Collect the tables that runs and metrics record, and that the graph still has."""
    graph = bench.definitions.resolve_asset_graph()
    known = {tuple(key.path) for key in graph.get_all_asset_keys()}
    divided = {key for key in known if graph.get(dg.AssetKey(key)).is_partitioned}
    tasks = {task.name: task for task in bench.catalog.tasks}
    with suppress(HomeError):  # damaged records are a finding of their own
        yield from _materialized_tables(bench)
    for root, task, condition, model in set(_recorded_evaluations(bench, listed)):
        for table in _MADE_BEFORE_METRICS:
            if (key := tuple(evaluation_key(tasks[task], condition, table))) in divided:
                yield _TableRecord(root, key, model)
        if (key := tuple(questions_key(tasks[task], condition))) in known - divided:
            yield _TableRecord(root, key, "")


def _materialized_tables(bench: Workbench) -> Iterator[_TableRecord]:
    """Tables of the event log, without those of removed models."""
    if bench.is_read_only:
        return
    ledger, graph = bench.ledger, bench.definitions.resolve_asset_graph()
    for key in sorted(graph.materializable_asset_keys):
        of = graph.get(key).partitions_def
        for name in ledger.partitions(of) if of else [None]:
            event = None if ledger.is_absent(key) else ledger.event(key, name)
            if event and event.digest:
                yield _TableRecord(event.root, tuple(key.path), name or "")


def _recorded_evaluations(bench: Workbench, listed: Collection[str]) -> Iterator[_EvaluationRecord]:
    """Evaluations with metrics."""
    of = {
        tuple(evaluation_key(task, condition, "metrics")): (task.name, condition)
        for task in bench.catalog.tasks
        for condition in task.conditions
    }
    for name in listed:
        if name.endswith(".parquet"):
            tables, key, model = bench.tables.locate_file(name)
            if key in of:
                yield _EvaluationRecord(tables.root(key[0]), *of[key], model)
