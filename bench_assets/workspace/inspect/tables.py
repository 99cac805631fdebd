"""Lists the tables of the graph, and materializes the papers' other tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

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


def list_paper_tables(bench: Workbench, suite: str = "") -> list[PaperTable]:
    """List the tables of a suite's paper that are not main evaluations; without one, of all.

    Raises:
        UnknownNameError: If there is no such suite.
    """
    return [
        table
        for suite in ([bench.catalog.suite(suite).name] if suite else bench.catalog.names)
        for table in [*_condition_tables(bench, suite), *_study_tables(bench, suite)]
    ]


def needs_of(bench: Workbench, table: str) -> str:
    """Describe the inputs that a table needs to have rows."""
    node = bench.definitions.resolve_asset_graph().get(dg.AssetKey(table.split("/")))
    return str(node.metadata.get(NEEDS_KEY, "questions, and answers to them"))


def make_paper_table(bench: Workbench, suite: str, name: str, model: str = "") -> str:
    """Materialize a table of a paper with its inputs; returns the name of its asset.

    ``name`` is its name within the suite or task, such as ``output_variability``. Responses that
    are not cached are requested. Only a table per model takes a model.

    Raises:
        UnknownNameError: If there is no such suite, table or model.
        SettingsError: If a table per model gets no model, or another table gets one.
        BenchError: If an input cannot be materialized.
    """
    graph = bench.definitions.resolve_asset_graph()
    suite_name = bench.catalog.suite(suite).name
    key = _find_key(name, suite, _paper_table_keys(bench, suite_name))
    is_per_model = graph.get(key).is_partitioned
    if is_per_model and not model:
        raise SettingsError(f"{key.to_user_string()} is a table of one model: name it with --model")
    if model and not is_per_model:
        raise SettingsError(f"{key.to_user_string()} is a table of all models: leave --model out")
    check_names(bench, [suite_name], [model] if model else [])
    bench.refresh_questions(suite_name)
    table = dg.AssetSelection.assets(key)
    upstream = table.upstream()
    inputs = upstream & (on_demand(suite_name) | CONSTANT_TABLES) - table
    if input_keys := sorted(inputs.resolve(graph)):
        bench.materialize(dg.AssetSelection.assets(*input_keys))
    if is_per_model:
        bench.add_models([model])
        bench.materialize(upstream & dg.AssetSelection.tag("bench/per", "model"), model=model)
    else:
        bench.materialize(table)
    return key.to_user_string()


def _condition_tables(bench: Workbench, suite: str) -> list[PaperTable]:
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


def _study_tables(bench: Workbench, suite: str) -> Iterator[PaperTable]:
    graph = bench.definitions.resolve_asset_graph()
    for key in _paper_table_keys(bench, suite):
        node, name = graph.get(key), "/".join(key.path[1:])
        command = f"bench tables paper {suite} {name}"
        yield PaperTable(
            suite=suite,
            name=name,
            about=" ".join((node.description or "").split()),
            command=f"{command} --model MODEL" if node.is_partitioned else command,
        )


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


def _find_key(name: str, suite: str, keys: Sequence[dg.AssetKey]) -> dg.AssetKey:
    """Find the one table whose name ends in ``name``, below a suite or task."""
    path = name.split("/")
    matching = [key for key in keys if key.path[-len(path) :] == path]
    selected = [key for key in matching if key.to_user_string().startswith(f"{suite}/")]
    if len(selected) != 1:
        names = ["/".join(key.path[1:]) for key in selected or keys]
        raise UnknownNameError(f"paper table of {suite}", name, names)
    return selected[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTable:
    """A table of the graph."""

    name: str
    stage: str
    per: str  # "model", "encoder" or "data set" if there is a table for each; otherwise ""
    made: int  # number of tables; 0 or 1 if there is one of all
    about: str  # description of one row


def list_tables(bench: Workbench, folder: str = "") -> list[ListedTable]:
    """List the tables of a suite, task or other folder of table names; all without a folder.

    Raises:
        UnknownNameError: If the folder has no tables.
    """
    tables = list(_all_tables(bench))
    if not folder:
        return tables
    selected = [table for table in tables if f"{table.name}/".startswith(f"{folder}/")]
    if not selected:
        paths = {path for table in tables for path in PurePosixPath(table.name).parents}
        folders = {str(path) for path in paths} - {"."}
        raise UnknownNameError(
            "suite, task or folder of tables", folder, folders, all_by="bench tables list"
        )
    return selected


def _all_tables(bench: Workbench) -> Iterator[ListedTable]:
    graph = bench.definitions.resolve_asset_graph()
    names = (blob.name for blob in bench.tables.blobs.list())
    file_counts = Counter(name.rpartition("/")[0] for name in names if name.endswith(".parquet"))
    for key in sorted(graph.get_all_asset_keys()):
        node = graph.get(key)
        yield ListedTable(
            name=key.to_user_string(),
            stage=node.tags.get("bench/stage", ""),
            per=node.tags.get("bench/per", _partition_kind(node.partitions_def)),
            made=file_counts[bench.tables.below(key.path)],
            about=" ".join((node.description or "").split()),
        )


def _partition_kind(partitions: dg.PartitionsDefinition[str] | None) -> str:
    if partitions is None:
        return ""
    return "data set" if isinstance(partitions, dg.StaticPartitionsDefinition) else "model"
