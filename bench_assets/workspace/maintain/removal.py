"""``bench home remove``: deletes a model's tables, partition and, on request, responses."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

import dagster as dg

from bench_assets.asset_factory.suite_assets import PARTITIONS_BY_MODEL_KIND
from bench_assets.core.schema.errors import HomeError, TableError, UnknownNameError
from bench_assets.core.schema.rows import Prediction
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.models_toml import read_models, remove_model
from bench_resources.config.stores import existing_response_store, open_table_locks
from bench_resources.runs.orphaned_runs import table_locks
from bench_resources.storage.blobs.port import BlobEntry
from bench_resources.tables.locations import SOURCES_FOLDER, file_name

_RESULTS = "metrics"  # folder of the tables with results


@dataclass(frozen=True, slots=True, kw_only=True)
class Removable:
    """Tables and responses of one model."""

    model: str
    tables: Sequence[BlobEntry]
    is_partition: bool
    is_given: bool  # has a section in models.toml

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
    """Find the tables and responses of a model.

    Raises:
        UnknownNameError: If the model has none; lists the models that have some.
    """
    blobs = bench.tables.blobs
    listed = [
        blob
        for key in _keys(bench)
        for tables in (bench.tables, *bench.tables.elsewhere(key.path[0]))
        if tables.exists(key.path, model)
        for blob in blobs.list(tables.below(key.path))
        if blob.name == tables.name(key.path, model)
    ]
    listed += [
        blob
        for suite in unknown_suites(bench)
        for blob in blobs.list(suite)
        if PurePosixPath(blob.name).name == file_name(model) != file_name()
    ]
    sets = {str(partitions.name) for partitions in PARTITIONS_BY_MODEL_KIND.values()}
    removable = Removable(
        model=model,
        tables=listed,
        is_partition=any(
            bench.instance.has_dynamic_partition(partition_set, model) for partition_set in sets
        ),
        is_given=model in read_models(bench.settings.home),
    )
    if not (removable.tables or removable.is_partition or removable.is_given):
        known = {name for key in _keys(bench) for name in bench.tables.partitions(key.path)}
        known |= {name for models in unknown_suites(bench).values() for name in models}
        raise UnknownNameError("model with tables", model, known)
    return removable


def unknown_suites(bench: Workbench) -> dict[str, list[str]]:
    """Suites with results here that are neither installed nor configured, and their models."""
    blobs, folders = bench.tables.blobs, dict[str, list[str]]()
    known = {SOURCES_FOLDER, *bench.catalog.names, *bench.catalog.not_loaded}
    for suite in blobs.folders():
        names = (
            [PurePosixPath(blob.name) for blob in blobs.list(suite)] if suite not in known else []
        )
        if models := {unquote(name.stem) for name in names if name.parent.name == _RESULTS}:
            folders[suite] = sorted(models)
    return folders


def remove(bench: Workbench, found: Removable, *, responses: bool) -> RemovalResult:
    """Remove a model's tables; questions, images and other models' tables stay.

    With ``responses``, also the responses that no other model's tables use.

    Raises:
        HomeError: If the model is being evaluated, or a file cannot be deleted.
    """
    model = found.model
    with _require_no_evaluation(bench, model):
        megabytes = found.megabytes
        n_responses = 0
        if responses:
            n_responses, freed = _remove_responses(bench, model)
            megabytes += freed
        blobs = bench.tables.blobs
        names = [table.name for table in found.tables]
        for name in names:
            blobs.delete(name)
        for name in {str(partitions.name) for partitions in PARTITIONS_BY_MODEL_KIND.values()}:
            if bench.instance.has_dynamic_partition(name, model):
                bench.instance.delete_dynamic_partition(name, model)
        if found.is_given:
            remove_model(bench.settings.home, model)
    return RemovalResult(
        model=model, tables=len(found.tables), responses=n_responses, megabytes=round(megabytes, 1)
    )


def _keys(bench: Workbench) -> list[dg.AssetKey]:
    """Keys of assets partitioned by model."""
    graph = bench.definitions.resolve_asset_graph()
    return [
        key
        for key in sorted(graph.get_all_asset_keys())
        if isinstance(graph.get(key).partitions_def, dg.DynamicPartitionsDefinition)
    ]


@contextmanager
def _require_no_evaluation(bench: Workbench, model: str) -> Iterator[None]:
    """Hold the locks of all tables of a model.

    Raises:
        HomeError: If another process holds one.
    """

    def refuse(waiting: str) -> None:
        holder = waiting.partition(": waiting for ")[2]
        raise HomeError(f"{model} is being evaluated by {holder}. Wait until it ends, or stop it")

    folders = ["/".join(key.path[:-1]) for key in _keys(bench)]
    with open_table_locks(bench.settings).held(table_locks(folders, model), refuse):
        yield


def _remove_responses(bench: Workbench, model: str) -> tuple[int, float]:
    """Delete responses that only this model's predictions use; returns their number and MB."""
    own_identities: set[str] = set()
    other_identities: set[str] = set()
    for key in _keys(bench):
        if key.path[-1] == "predictions":
            for name in bench.tables.partitions(key.path):
                (own_identities if name == model else other_identities).update(
                    _request_identities(bench, key, name)
                )
    store, file = existing_response_store(bench.settings), bench.settings.responses_file
    if store is None or not own_identities - other_identities:
        return 0, 0.0
    before = file.stat().st_size if file.exists() else 0
    n = store.remove(own_identities - other_identities)
    freed = before - file.stat().st_size if file.exists() else 0
    return n, max(0.0, freed / 1e6)


def _request_identities(bench: Workbench, key: dg.AssetKey, model: str) -> set[str]:
    """Identities and decodings in the predictions; none for a damaged table."""
    try:
        return {row.decoding for row in bench.tables.read(key.path, Prediction, model)}
    except TableError:
        return set()
