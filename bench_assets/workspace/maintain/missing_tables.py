"""The part of ``bench verify`` that says which tables are gone, though they were made.

Notes name what was made together. A note that is older than names, and numbers without one, tell of
what every evaluation makes. What neither tells of may never have been made, and is not missed.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.core.schema.errors import HomeError
from bench_assets.evaluation.task import Task
from bench_assets.workspace.maintain.findings import VerificationFinding
from bench_assets.workspace.maintain.rebuild_commands import command_for
from bench_assets.workspace.materialization.freshness import NOTES, names_noted
from bench_assets.workspace.materialization.workbench import Workbench
from resources.tables.file_bytes import own_name
from resources.tables.locations import PLACES

_MADE_BEFORE_METRICS = ("predictions", "judgements", "scores")

_Key: TypeAlias = tuple[str, ...]


class _TableRecord(NamedTuple):
    """A table that was made."""

    root: str  # below what it lies: "", or the place of a source
    key: _Key
    model: str  # "" of a table of no model

    @property
    def name(self) -> str:
        """Under which name it is."""
        return "/".join((*filter(None, [self.root]), own_name(self.key, self.model)))


class _EvaluationRecord(NamedTuple):
    """An evaluation that came to its end."""

    root: str
    task: str
    condition: str
    model: str


def missing_tables(bench: Workbench, listed: Collection[str]) -> Iterator[VerificationFinding]:
    """Name the tables that are gone, with the command that makes them again.

    Args:
        bench: The home folder.
        listed: Names of all that lies among its tables.

    Raises:
        HomeError: If the store of tables cannot be reached.
    """
    names = set(listed)
    # What the leaderboard is made with is of sources, and its note is of none.
    names |= {name.split("/", 2)[2] for name in names if name.startswith(f"{PLACES}/")}
    for made in sorted(set(_made(bench, listed))):
        if made.name not in names and not _is_there(bench, made.name):
            yield _missing(bench, made)


def _is_there(bench: Workbench, name: str) -> bool:
    """Whether it was made since, or may not be looked at, of which its folder tells."""
    try:
        return bench.tables.blobs.exists(name)
    except HomeError:
        if bench.tables.blobs.folder is None:
            raise
        return True


def _missing(bench: Workbench, made: _TableRecord) -> VerificationFinding:
    tables, key, model = bench.tables.holding(made.name)
    is_current = made.root == bench.tables.root(key[0])
    other = "" if is_current else "; it is of another source, see --source"
    return VerificationFinding(
        what="/".join(key) + (f" of {model}" if model else ""),
        state="missing",
        n=1,
        why=f"{tables.place(key, model)}: no such table, though it was made{other}",
        command=command_for(bench, dg.AssetKey(key), model) if is_current else "",
    )


def _made(bench: Workbench, listed: Collection[str]) -> Iterator[_TableRecord]:
    """All that notes and numbers tell of, as far as the home still has such tables."""
    graph = bench.definitions.resolve_asset_graph()
    known = {tuple(key.path) for key in graph.get_all_asset_keys()}
    divided = {key for key in known if graph.get(dg.AssetKey(key)).is_partitioned}
    evaluated = set(_measured(bench, listed))
    tasks = {task.name: task for task in bench.catalog.tasks}
    for name in listed:
        above, is_note, note = name.rpartition(f"{NOTES}/")
        if is_note and "/" not in note:
            made, old = _noted(bench, tasks, above.rstrip("/"), note)
            yield from (one for one in made if one.key in (divided if one.model else known))
            evaluated |= old
    for root, task, condition, model in evaluated:
        for table in _MADE_BEFORE_METRICS:
            if (key := tuple(evaluation_key(tasks[task], condition, table))) in divided:
                yield _TableRecord(root, key, model)
        if (key := tuple(questions_key(tasks[task], condition))) in known - divided:
            yield _TableRecord(root, key, "")


def _noted(
    bench: Workbench, tasks: Mapping[str, Task], root: str, note: str
) -> tuple[set[_TableRecord], set[_EvaluationRecord]]:
    """What a note tells of by name; of one without names, the evaluation that it is of."""
    text = b""
    with suppress(HomeError):  # a folder in its place
        text = bench.tables.blobs.get("/".join((*filter(None, [root]), NOTES, note))) or b""
    name, condition, model = map(unquote, [*note.split(" ", 2), "", ""][:3])
    if names := names_noted(text.decode(errors="replace")):
        return {_TableRecord(root, tuple(one.split("/")), model) for one in names}, set()
    task = tasks.get(name)
    if task is None or condition not in ("", *task.conditions):
        return set(), set()
    if not model:
        return {_TableRecord(root, tuple(questions_key(task, "main")), "")}, set()
    key = tuple(evaluation_key(task, condition, "metrics"))
    return {_TableRecord(root, key, model)}, {_EvaluationRecord(root, name, condition, model)}


def _measured(bench: Workbench, listed: Collection[str]) -> Iterator[_EvaluationRecord]:
    """The evaluations that there are numbers of."""
    of = {
        tuple(evaluation_key(task, condition, "metrics")): (task.name, condition)
        for task in bench.catalog.tasks
        for condition in task.conditions
    }
    for name in listed:
        if name.endswith(".parquet"):
            tables, key, model = bench.tables.holding(name)
            if key in of:
                yield _EvaluationRecord(tables.root(key[0]), *of[key], model)
