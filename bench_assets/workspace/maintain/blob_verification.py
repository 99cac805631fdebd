"""Verification of tables and images, in the home or in the object store."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from shlex import quote

import dagster as dg

from bench_assets.comparison.comparable import evaluation_command
from bench_assets.core.schema.errors import HomeError, TableError
from bench_assets.core.tables.arrow import require_columns
from bench_assets.workspace.inspect.stale_numbers import stale_numbers
from bench_assets.workspace.maintain.rebuilding import (
    invalidate_tables,
    rebuild_command,
    tables_by_image,
)
from bench_assets.workspace.maintain.verification_findings import (
    State,
    VerificationFinding,
    whole_finding,
)
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.images.store import damaged_images, open_image_store
from bench_resources.tables.file_bytes import describe_table_errors
from bench_resources.tables.parquet import TableFiles

_TABLE_SUFFIX = ".parquet"
_THREADS = 16  # concurrent downloads from an object store


def verify_tables(bench: Workbench) -> Iterator[VerificationFinding]:
    """Read every table of all sources, and find stale numbers."""
    n_whole = 0
    try:
        blob_names = (blob.name for blob in bench.tables.blobs.list())
        names = [name for name in blob_names if name.endswith(_TABLE_SUFFIX)]
        n_threads = _THREADS if bench.settings.storage.objects else 1
        with ThreadPoolExecutor(n_threads) as threads:
            for finding in threads.map(partial(_table_finding, bench), names):
                if finding:
                    yield finding
                else:
                    n_whole += 1
        yield from _stale_findings(bench)
    except HomeError as error:
        yield VerificationFinding(what="tables", state="missing", why=str(error))
        return
    yield from whole_finding("tables", n_whole)


def _stale_findings(bench: Workbench) -> Iterator[VerificationFinding]:
    for task, condition, model, reason in stale_numbers(bench):
        yield VerificationFinding(
            what=f"{task.name} of {model}{'' if condition == 'main' else f', {condition}'}",
            state="outdated",
            why=reason,
            command=evaluation_command(task, [model], condition),
        )


def _table_finding(bench: Workbench, name: str) -> VerificationFinding | None:
    """Read a table; returns a finding if it is damaged or has the columns of another version."""
    tables, key, model = bench.tables.locate_file(name)
    label = "/".join(key) + (f" of {model}" if model else "")
    state: State = "damaged"
    try:
        tables.verify(key, model)
        state = "outdated"
        _require_current_columns(bench, tables, key, model)
    except TableError as error:
        is_own = tables.root(key[0]) == bench.tables.root(key[0])
        command = rebuild_command(bench, dg.AssetKey(key), model) if is_own else ""
        if not command and tables.blobs.folder is not None:  # a file, which can be removed
            command = f"rm {quote(tables.place(key, model))}"
        return VerificationFinding(what=label, state=state, why=str(error), command=command)
    return None


def _require_current_columns(
    bench: Workbench, tables: TableFiles, key: Sequence[str], model: str
) -> None:
    asset = dg.AssetKey(key)
    if asset not in bench.definitions.resolve_asset_graph().get_all_asset_keys():
        return
    with tables.opened(key, model) as file, describe_table_errors(tables.place(key, model)):
        require_columns(file.schema_arrow, bench.row_type(asset))


def verify_images(bench: Workbench) -> Iterator[VerificationFinding]:
    """Find damaged and missing images; marks the present source's tables with them as stale."""
    location = open_image_store(bench.settings).place
    try:
        by_image = tables_by_image(bench)
        stored = set(location.stored_digests())
        damaged = damaged_images(location, sorted(stored))
    except HomeError as error:
        yield VerificationFinding(what="images", state="missing", why=str(error))
        return
    names = sorted(by_image.keys() - stored)
    missing = {name: f"no such image in {location.name}" for name in names}
    tables = {table for name in damaged | missing for table in by_image.get(name, ())}
    invalidate_tables(bench, sorted(table.key for table in tables if table.is_own))
    commands = {
        table: rebuild_command(bench, table.key) + ("" if table.is_own else " --source SOURCE")
        for table in tables
    }
    for name, reason in (damaged | missing).items():
        is_used = name in by_image
        yield VerificationFinding(
            what=f"image {name}",
            state="missing" if name in missing else "damaged",
            why=reason if is_used else f"{reason}; no table uses it",
            command=commands[by_image[name][-1]] if is_used else location.deletion_command(name),
        )
    yield from whole_finding("images", len(stored) - len(damaged))
