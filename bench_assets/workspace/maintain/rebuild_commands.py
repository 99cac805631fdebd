"""Which command makes a table again, and which suite shows an image."""

from collections.abc import Iterator
from contextlib import suppress
from shlex import quote
from typing import Any
from urllib.parse import unquote

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import questions_key
from bench_assets.core.schema.errors import HomeError
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.defs.tables.audit import AUDIT
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization import asset_selections
from bench_assets.workspace.materialization.freshness import notes, out_of_date
from bench_assets.workspace.materialization.workbench import Workbench
from resources.tables.parquet import Table, TableFiles

_SHOWN = "SELECT DISTINCT unnest(images) AS image FROM tables"
_STORED = "SELECT sha256 AS image FROM tables"


def command_for(bench: Workbench, key: dg.AssetKey, model: str = "") -> str:
    """Name the command that makes a table; "" if nothing makes it any more."""
    graph = bench.definitions.resolve_asset_graph()
    if key not in graph.get_all_asset_keys():
        return ""
    if key.path == ["expectations"] or key in asset_selections.LEADERBOARD.resolve(graph):
        return "bench expectations" if key.path == ["expectations"] else "bench leaderboard"
    suite, name = key.path[0], "/".join(key.path[1:])
    if key in asset_selections.left_half(suite).resolve(graph):
        return f"bench questions {suite}"
    for task, condition in _conditions(bench, suite):
        if key in asset_selections.evaluation(task, condition, graph).resolve(graph):
            chosen = "" if condition == "main" else f" --condition {condition}"
            return f"bench evaluate {task.name} --model {quote(model)}{chosen}"
        if key.path == list(questions_key(task, condition)):
            return f"bench evaluate {task.name} --condition {condition} --model MODEL"
    if key.path[-1] == AUDIT:
        made = f"bench audit {'/'.join(key.path[:-1])}"
    else:
        made = f"bench study {suite} {name}"
    return made + (f" --model {quote(model)}" if model else "")


def shown_by(bench: Workbench) -> dict[str, str]:
    """Say of each image that a table names which suite that is; tables are read as they are."""
    shown: dict[str, str] = {}
    rows: tuple[tuple[str, type[Any]], ...] = ((_SHOWN, Question), (_STORED, StoredImage))
    for suite in bench.catalog.names:
        for tables in (*bench.tables.elsewhere(suite), bench.tables):
            keys = _undivided(tables, suite)
            for sql, row_type in rows:
                others: dict[Table, str] = {}  # tables of other rows, and damaged ones
                found = tables.query(sql, {"tables": (keys, row_type)}, others)
                shown |= dict.fromkeys(found.column("image").to_pylist(), suite)
    return shown


def _undivided(tables: TableFiles, suite: str) -> list[tuple[str, ...]]:
    """Keys of a suite's tables, but those in folders that may not be looked into."""
    keys: list[tuple[str, ...]] = []
    try:
        keys.extend(tables.undivided(suite))
    except HomeError:
        if tables.blobs.folder is None:
            raise
    return keys


def forget_made(bench: Workbench, suite: str) -> None:
    """Have no note say that a suite's question tables are as they would be made now."""
    blobs = bench.tables.blobs
    for note in list(blobs.list(notes(bench.tables, suite))):
        name = unquote(note.name.rpartition("/")[2])
        if " " not in name and name.split("/")[0] == suite:  # others are of evaluations
            with suppress(HomeError):  # nothing can be made again where nothing can be written
                text = (blobs.get(note.name) or b"").decode(errors="replace")
                blobs.put(note.name, out_of_date(text).encode(), sync=False)


def _conditions(bench: Workbench, suite: str) -> Iterator[tuple[Task, str]]:
    for task in bench.catalog.tasks_of(suite):
        for condition in sorted(task.conditions, key=lambda name: name != "main"):
            yield task, condition
