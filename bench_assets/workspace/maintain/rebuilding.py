"""Commands that rebuild damaged tables and images of a home."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from shlex import quote
from typing import Any, NamedTuple

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import AUDIT, constants_key
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
        if key in inputs.resolve(graph) or key.path == constants_key(task, condition):
            return f"bench evaluate {task.name} --condition {condition} --model MODEL"
    if key.path[-1] == AUDIT:
        command = f"bench audit run {'/'.join(key.path[:-1])}"
    else:
        command = f"bench tables paper {suite} {name}"
    return command + (f" --model {quote(model)}" if model else "")


def _task_conditions(bench: Workbench, suite: str) -> Iterator[tuple[Task, str]]:
    """Pair the tasks of a suite with their conditions, the main one first."""
    for task in bench.catalog.tasks_of(suite):
        for condition in sorted(task.conditions, key=lambda name: name != "main"):
            yield task, condition


class ImageTable(NamedTuple):
    """A table that names an image."""

    key: dg.AssetKey
    is_own: bool  # of the present source


def tables_by_image(bench: Workbench) -> dict[str, list[ImageTable]]:
    """Find the tables that name each image; of each suite, those of its dataset build last.

    Damaged tables are skipped, and tables that no asset produces any more.
    """
    graph = bench.definitions.resolve_asset_graph()
    by_image: dict[str, list[ImageTable]] = defaultdict(list)
    for suite in bench.catalog.evaluable.names:
        dataset_build = asset_selections.dataset_build(suite).resolve(graph)
        for tables in (*bench.tables.elsewhere(suite), bench.tables):
            stored = {dg.AssetKey(key) for key in tables.unpartitioned_keys(suite)}
            keys = stored & graph.get_all_asset_keys()
            for key in (*sorted(keys - dataset_build), *sorted(keys & dataset_build)):
                table = ImageTable(key=key, is_own=tables is bench.tables)
                for sql, row_type in _IMAGE_QUERIES:
                    skipped: dict[Table, str] = {}  # a table of other rows, or damaged
                    images = tables.query(sql, {"tables": ([key.path], row_type)}, skipped)
                    for image in images.column("image").to_pylist():
                        by_image[image].append(table)
    return by_image


def invalidate_tables(bench: Workbench, keys: Iterable[dg.AssetKey]) -> None:
    """Mark tables with damaged images as stale, by events without a code version."""
    with suppress(HomeError):  # a read-only home cannot be rebuilt anyway
        for key in keys:
            if bench.ledger.event(key):
                event = dg.AssetMaterialization(key, description="Its images are damaged.")
                bench.instance.report_runless_asset_event(event)
