"""Lists the tables of the graph, and materializes the papers' other tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import dagster as dg

from bench_assets.asset_factory.suite_assets import NEEDS_KEY
from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_assets.workspace.materialization.asset_selections import CONSTANT_TABLES, on_demand
from bench_assets.workspace.materialization.opening import check_names
from bench_assets.workspace.materialization.workbench import Workbench

_EVALUATION_TABLES = ("predictions", "judgements", "scores", "metrics")
_EXCLUDED_TABLES = ("quick_evaluation", "report")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """A table of a paper, or the main table under other conditions."""

    suite: str
    name: str  # name of the table within the suite, or of the condition
    about: str
    command: str  # builds and prints it


def list_paper_tables(bench: Workbench) -> list[PaperTable]:
    """List the papers' tables that are not main evaluations, suite by suite."""
    return [
        study
        for suite in bench.catalog.names
        for study in [*_conditions(bench, suite), *_tables(bench, suite)]
    ]


def needs_of(bench: Workbench, table: str) -> str:
    """Describe the inputs that a table needs to have rows."""
    node = bench.definitions.resolve_asset_graph().get(dg.AssetKey(table.split("/")))
    return str(node.metadata.get(NEEDS_KEY, "questions, and answers to them"))


def make_paper_table(bench: Workbench, suite: str, name: str, model: str = "") -> str:
    """Materialize a table of a paper with its inputs; returns the name of its asset.

    Requests responses that are not cached.

    Args:
        bench: The home folder.
        suite: A suite or task.
        name: The table's name within the suite, such as ``output_variability``.
        model: A model of bench.toml, for a table per model; "" for other tables.

    Raises:
        UnknownNameError: If the suite has no such table.
        SettingsError: If a table per model gets no model, or another table gets one.
        BenchError: If an input cannot be materialized.
    """
    graph = bench.definitions.resolve_asset_graph()
    suite_name = bench.catalog.suite(suite).name
    key = _find(name, suite, _paper_table_keys(bench, suite_name))
    partitioned = graph.get(key).is_partitioned
    if partitioned != bool(model):
        scope = (
            "one model: name it with --model" if partitioned else "all models: leave --model out"
        )
        raise SettingsError(f"{key.to_user_string()} is a table of {scope}")
    check_names(bench, [suite_name], [model] if model else [])
    bench.refresh_questions(suite_name)
    upstream = dg.AssetSelection.assets(key).upstream()
    other_assets = upstream & (on_demand(suite_name) | CONSTANT_TABLES) - dg.AssetSelection.assets(
        key
    )
    if required := sorted(other_assets.resolve(graph)):
        bench.materialize(dg.AssetSelection.assets(*required))
    if partitioned:
        bench.add_models([model])
        bench.materialize(upstream & dg.AssetSelection.tag("bench/per", "model"), model=model)
    else:
        bench.materialize(dg.AssetSelection.assets(key))
    return key.to_user_string()


def _conditions(bench: Workbench, suite: str) -> list[PaperTable]:
    return [
        PaperTable(
            suite=suite,
            name=name,
            about=f"{task.title}: {condition.about}",
            command=f"bench evaluate {task.name} --condition {name} --model MODEL",
        )
        for task in bench.catalog.tasks_of(suite)
        for name, condition in task.conditions.items()
        if name != "main"
    ]


def _tables(bench: Workbench, suite: str) -> list[PaperTable]:
    graph = bench.definitions.resolve_asset_graph()
    return [
        PaperTable(
            suite=suite,
            name=name,
            about=" ".join((node.description or "").split()),
            command=f"bench tables paper {suite} {name}" + " --model MODEL" * node.is_partitioned,
        )
        for key in _paper_table_keys(bench, suite)
        for node in [graph.get(key)]
        for name in ["/".join(key.path[1:])]
    ]


def _paper_table_keys(bench: Workbench, suite: str) -> Sequence[dg.AssetKey]:
    """Keys of studies and submission files that are not part of an evaluation."""
    graph = bench.definitions.resolve_asset_graph()
    in_suite = dg.AssetSelection.key_prefixes([suite])
    measured = dg.AssetSelection.tag("bench/stage", "metrics")
    submitted = dg.AssetSelection.tag("bench/stage", "predictions")
    return [
        key
        for key in sorted((in_suite & (measured | submitted)).resolve(graph))
        if key.path[-1] not in (*_EVALUATION_TABLES, *_EXCLUDED_TABLES)
    ]


def _find(name: str, suite: str, keys: Sequence[dg.AssetKey]) -> dg.AssetKey:
    wanted = name.split("/")
    matching = [key for key in keys if key.path[-len(wanted) :] == wanted]
    selected = [key for key in matching if key.to_user_string().startswith(f"{suite}/")]
    if len(selected) != 1:
        known = ["/".join(key.path[1:]) for key in selected or keys]
        raise UnknownNameError(f"paper table of {suite}", name, known)
    return selected[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTable:
    """A table of the graph."""

    name: str
    stage: str
    per: str  # "model", "encoder" or "data set" if there is a table for each; otherwise ""
    made: int  # number of tables; 0 or 1 if there is one of all
    about: str  # description of one row


def list_tables(bench: Workbench, below: str = "") -> list[ListedTable]:
    """List the tables, by name.

    Args:
        bench: The home folder.
        below: A suite, task or other folder of table names; "": all.

    Raises:
        UnknownNameError: If it has no tables.
    """
    every = list(_all_tables(bench))
    selected = [table for table in every if not below or f"{table.name}/".startswith(f"{below}/")]
    if not selected:
        folders = {table.name[:end] for table in every for end in _folder_ends(table.name)}
        raise UnknownNameError(
            "suite, task or folder of tables", below, folders, all_by="bench tables list"
        )
    return selected


def _all_tables(bench: Workbench) -> Iterator[ListedTable]:
    graph, file_counts = bench.definitions.resolve_asset_graph(), _file_counts(bench)
    for key in sorted(graph.get_all_asset_keys()):
        node = graph.get(key)
        yield ListedTable(
            name=key.to_user_string(),
            stage=node.tags.get("bench/stage", ""),
            per=node.tags.get("bench/per", _per(node.partitions_def)),
            made=file_counts[bench.tables.below(key.path)],
            about=" ".join((node.description or "").split()),
        )


def _per(partitions: dg.PartitionsDefinition[str] | None) -> str:
    is_static = isinstance(partitions, dg.StaticPartitionsDefinition)
    return "" if partitions is None else "data set" if is_static else "model"


def _file_counts(bench: Workbench) -> Counter[str]:
    """Count the Parquet files of each table, by folder."""
    names = (blob.name for blob in bench.tables.blobs.list())
    return Counter(name.rpartition("/")[0] for name in names if name.endswith(".parquet"))


def _folder_ends(name: str) -> Iterator[int]:
    """Positions at which the folders of a table's name end."""
    return (at for at, letter in enumerate(name) if letter == "/")
