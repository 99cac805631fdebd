"""``bench home remove``: deletes a model's tables, partition and, on request, responses."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.asset_factory.suite_assets import PARTITIONS_BY_MODEL_KIND
from bench_assets.core.schema.elicitation import cache_identity
from bench_assets.core.schema.errors import HomeError, TableError, UnknownNameError
from bench_assets.core.schema.rows import Prediction
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.models_toml import read_models, remove_model
from bench_resources.config.stores import existing_response_store, open_table_locks
from bench_resources.runs.orphaned_runs import table_locks
from bench_resources.storage.blobs.port import BlobEntry
from bench_resources.storage.locks import LockWait
from bench_resources.tables.locations import SOURCES_FOLDER, file_name
from bench_resources.tables.parquet import TableFiles

_RESULTS_FOLDER = "metrics"  # of tables, which every evaluation has


@dataclass(frozen=True, slots=True, kw_only=True)
class Removable:
    """What can be removed of one model, except its responses."""

    model: str
    tables: Sequence[BlobEntry]
    has_partition: bool
    has_section: bool  # in models.toml

    @property
    def megabytes(self) -> float:
        """Size of the tables in MB."""
        return sum(table.size for table in self.tables) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalResult:
    """Removed tables and responses."""

    model: str
    tables: int
    responses: int
    megabytes: float  # freed


def find_removable(bench: Workbench, model: str) -> Removable:
    """Find the tables, partition and section of a model.

    Raises:
        UnknownNameError: If the model has none of them; lists the models that have tables.
    """
    removable = Removable(
        model=model,
        tables=list(_tables_of(bench, model)),
        has_partition=any(
            bench.instance.has_dynamic_partition(name, model) for name in _partition_set_names()
        ),
        has_section=model in read_models(bench.settings.home),
    )
    if not (removable.tables or removable.has_partition or removable.has_section):
        keys = _model_table_keys(bench)
        models = {name for key in keys for name in bench.tables.partitions(key.path)}
        models.update(*unknown_suites(bench).values())
        raise UnknownNameError("model with tables", model, models)
    return removable


def _tables_of(bench: Workbench, model: str) -> Iterator[BlobEntry]:
    """Find the tables of a model, also those of other sources and of unknown suites."""
    blobs = bench.tables.blobs
    for key in _model_table_keys(bench):
        for tables in (bench.tables, *bench.tables.elsewhere(key.path[0])):
            if tables.exists(key.path, model):
                name = tables.name(key.path, model)
                yield from (
                    blob for blob in blobs.list(tables.below(key.path)) if blob.name == name
                )
    file = file_name(model)
    if file == file_name():  # of tables that are not per model
        return
    for suite in unknown_suites(bench):
        yield from (blob for blob in blobs.list(suite) if PurePosixPath(blob.name).name == file)


def unknown_suites(bench: Workbench) -> dict[str, list[str]]:
    """Suites with results here that are neither installed nor configured, and their models."""
    blobs = bench.tables.blobs
    known_folders = {SOURCES_FOLDER, *bench.catalog.names, *bench.catalog.not_loaded}
    models_by_suite: dict[str, list[str]] = {}
    for suite in blobs.folders():
        if suite in known_folders:
            continue
        files = [PurePosixPath(blob.name) for blob in blobs.list(suite)]
        if models := {unquote(file.stem) for file in files if file.parent.name == _RESULTS_FOLDER}:
            models_by_suite[suite] = sorted(models)
    return models_by_suite


def remove(bench: Workbench, removable: Removable, *, responses: bool) -> RemovalResult:
    """Remove a model's tables, partition and section; questions and images stay.

    With ``responses``, also the responses that no other model's tables use.

    Raises:
        HomeError: If the model is being evaluated, or a file cannot be deleted.
    """
    model, megabytes, n_responses = removable.model, removable.megabytes, 0
    with _hold_evaluation_locks(bench, model):
        if responses:
            n_responses, freed = _remove_responses(bench, model)
            megabytes += freed
        for table in removable.tables:
            bench.tables.blobs.delete(table.name)
        for name in _partition_set_names():
            if bench.instance.has_dynamic_partition(name, model):
                bench.instance.delete_dynamic_partition(name, model)
        if removable.has_section:
            remove_model(bench.settings.home, model)
    return RemovalResult(
        model=model,
        tables=len(removable.tables),
        responses=n_responses,
        megabytes=round(megabytes, 1),
    )


def _partition_set_names() -> set[str]:
    return {str(partitions.name) for partitions in PARTITIONS_BY_MODEL_KIND.values()}


def _model_table_keys(bench: Workbench) -> list[dg.AssetKey]:
    graph = bench.definitions.resolve_asset_graph()
    return [
        key
        for key in sorted(graph.get_all_asset_keys())
        if isinstance(graph.get(key).partitions_def, dg.DynamicPartitionsDefinition)
    ]


def _hold_evaluation_locks(bench: Workbench, model: str) -> AbstractContextManager[None]:
    """Hold the locks of all tables of a model, or raise HomeError if an evaluation holds one."""

    def refuse(wait: LockWait) -> None:
        raise HomeError(
            f"{model} is being evaluated by {wait.holder}. Wait until it ends, or stop it"
        )

    folders = ["/".join(key.path[:-1]) for key in _model_table_keys(bench)]
    return open_table_locks(bench.settings).held(table_locks(folders, model), refuse)


def _remove_responses(bench: Workbench, model: str) -> tuple[int, float]:
    """Delete responses that only this model's predictions use; returns their number and MB.

    Raises:
        TableError: If the predictions of another model are damaged.
    """
    own_identities: set[str] = set()
    other_identities: set[str] = set()
    keys = [key.path for key in _model_table_keys(bench) if key.path[-1] == "predictions"]
    temperatures = {
        tuple(evaluation_key(task, name, "predictions")): condition.temperature
        for task in bench.catalog.tasks
        for name, condition in task.conditions.items()
    }
    for key in keys:
        temperature = temperatures.get(tuple(key))
        for tables in (bench.tables, *bench.tables.elsewhere(key[0])):
            for name in tables.partitions(key):
                if name != model:
                    other_identities |= _cache_identities(tables, key, name, temperature)
                    continue
                with suppress(TableError):  # a damaged table goes, but not its responses
                    own_identities |= _cache_identities(tables, key, name, temperature)
    store, file = existing_response_store(bench.settings), bench.settings.responses_file
    unshared_identities = sorted(own_identities - other_identities)
    if store is None or not unshared_identities:
        return 0, 0.0
    size_before = file.stat().st_size if file.exists() else 0
    n = store.remove(unshared_identities)
    n_bytes = size_before - file.stat().st_size if file.exists() else 0
    return n, max(0.0, n_bytes / 1e6)


def _cache_identities(
    tables: TableFiles, key: Sequence[str], model: str, temperature: float | None
) -> set[str]:
    """Cache identities of the responses in a table of predictions.

    ``temperature`` is that of the condition; None: the model's.
    """
    predictions = tables.read(key, Prediction, model)
    return {cache_identity(row.decoding, temperature) for row in predictions}
