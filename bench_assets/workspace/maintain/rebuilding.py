"""Commands that rebuild damaged tables and images of a home."""

from collections.abc import Iterator
from contextlib import suppress
from shlex import quote
from typing import Any

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import AUDIT, CONSTANTS, questions_key
from bench_assets.comparison.comparable import evaluation_command
from bench_assets.core.schema.errors import HomeError
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization import asset_selections
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.tables.parquet import Table

_IMAGE_QUERIES: tuple[tuple[str, type[Any]], ...] = (
    ("SELECT DISTINCT unnest(images) AS image FROM tables", Question),
    ("SELECT sha256 AS image FROM tables", StoredImage),
)


def rebuild_command(bench: Workbench, key: dg.AssetKey, model: str = "") -> str:
    """Command that rebuilds a table; "" if no asset produces it any more."""
    graph = bench.definitions.resolve_asset_graph()
    if key not in graph.get_all_asset_keys():
        return ""
    if key in asset_selections.LEADERBOARD.resolve(graph):
        return "bench leaderboard"
    suite, name = key.path[0], "/".join(key.path[1:])
    if key in asset_selections.dataset_build(suite).resolve(graph):
        return f"bench tables questions {suite}"
    for task, condition in _task_conditions(bench, suite):
        selection = asset_selections.evaluation(task, condition, graph.get_all_asset_keys())
        if key in selection.resolve(graph):
            return evaluation_command(task, [model], condition)
        inputs = asset_selections.condition_inputs(task, condition, graph.get_all_asset_keys())
        constants = [*questions_key(task, condition)[:-1], CONSTANTS]
        if key in inputs.resolve(graph) or key.path == constants:
            return f"bench evaluate {task.name} --condition {condition} --model MODEL"
    if key.path[-1] == AUDIT:
        command = f"bench audit run {'/'.join(key.path[:-1])}"
    else:
        command = f"bench tables paper {suite} {name}"
    return command + (f" --model {quote(model)}" if model else "")


def suites_by_image(bench: Workbench) -> dict[str, str]:
    """Map images to suites, by the tables that name them."""
    by_image: dict[str, str] = {}
    for suite in bench.catalog.evaluable.names:
        for tables in (*bench.tables.elsewhere(suite), bench.tables):
            keys = list(tables.unpartitioned_keys(suite))
            for sql, row_type in _IMAGE_QUERIES:
                skipped: dict[Table, str] = {}  # tables of other row types, and damaged tables
                images = tables.query(sql, {"tables": (keys, row_type)}, skipped)
                by_image |= dict.fromkeys(images.column("image").to_pylist(), suite)
    return by_image


def invalidate_suite(bench: Workbench, suite: str) -> None:
    """Mark the main question tables of a suite as stale, by an event without a code version."""
    with suppress(HomeError):  # a read-only home cannot be rebuilt anyway
        for task in bench.catalog.tasks_of(suite):
            key = dg.AssetKey(questions_key(task, "main"))
            if bench.ledger.event(key):
                event = dg.AssetMaterialization(key, description="Its images are damaged.")
                bench.instance.report_runless_asset_event(event)


def _task_conditions(bench: Workbench, suite: str) -> Iterator[tuple[Task, str]]:
    """Pair the tasks of a suite with their conditions, the main one first."""
    for task in bench.catalog.tasks_of(suite):
        for condition in sorted(task.conditions, key=lambda name: name != "main"):
            yield task, condition
