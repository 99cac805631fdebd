"""Tables as Parquet files: one folder per asset, one file per partition.

A DuckDB database would be locked by a single process; DuckDB queries the files instead. Tables in a
shared object store are fetched concurrently.
"""

import io
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, fields
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

import dagster as dg
import numpy as np
import pyarrow as pa
from pydantic import PrivateAttr

from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.arrow import arrow_schema, digest, require_columns, to_rows, to_table
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.file_digests import FileState, file_state
from bench_resources.tables import duckdb_queries
from bench_resources.tables.asset_types import asset_row_type, preview
from bench_resources.tables.file_bytes import (
    DIGEST,
    SOURCE_STATE,
    TABLE_NAME_KEY,
    WRITTEN,
    TableBytes,
    table_name,
    write_groups,
)
from bench_resources.tables.locations import file_name

Row = TypeVar("Row")
Rows = TypeVar("Rows", bound=Sequence[Any])

Table: TypeAlias = tuple[tuple[str, ...], str]
"""Asset key and partition; "" for an asset without partitions."""


TABLE_DIGEST = "bench/digest"
"""Metadata of a materialization: the digest of the table's rows, as in its file."""

FAILED_REQUESTS = "bench/errors"
"""Metadata of a materialization: number of rows whose request failed."""

PART_FIELD = "bench/part"
"""Metadata of an asset whose steps make several partitions: the field that names a row's."""

_MAX_CONCURRENT = 32  # objects that are fetched at once
_RECENT = 3  # tables that a run keeps in memory: questions, responses, verdicts
_GROUP_ROWS = 8192  # rows of a row group


class TableFiles(TableBytes):
    """The tables of a home folder."""

    def write(
        self,
        key: Sequence[str],
        rows: Sequence[Any],
        row_type: type[Any],
        partition: str = "",
        footer: Mapping[bytes, str | bytes] = MappingProxyType({}),
    ) -> str:
        """Write a table atomically: readers see the old or the new one.

        ``footer`` is added to the metadata of the file, and takes precedence.

        Returns:
            The path of the file, or the address of the object.
        """
        name = table_name(key, partition)
        metadata = {
            DIGEST: footer.get(DIGEST) or digest(rows),
            WRITTEN: f"{time.time():.6f}",
            TABLE_NAME_KEY: name,
            **footer,
        }
        schema = arrow_schema(row_type).with_metadata(metadata)
        starts = range(0, max(len(rows), 1), _GROUP_ROWS)
        tables = (to_table(rows[start : start + _GROUP_ROWS], row_type) for start in starts)
        if self.blobs.folder is None:
            buffer = io.BytesIO()
            write_groups(tables, schema, buffer)
            self.blobs.put(self.name(key, partition), buffer.getvalue())
        else:
            with open_atomic(self.path(key, partition)) as file:
                write_groups(tables, schema, file)
        return self.place(key, partition)

    def read(
        self,
        key: Sequence[str],
        row_type: type[Row],
        partition: str = "",
        question_ids: Collection[str] | None = None,
    ) -> list[Row]:
        """Read a table, or only its rows about some questions, since constructing rows is slow.

        Raises:
            TableError: If it was never written, has other columns, or is damaged.
            HomeError: If the store of tables cannot be reached.
        """
        with self.open_verified(key, partition) as file:
            table = file.read()
            if question_ids is not None:
                ids = table.column("question_id").to_pylist()
                mask = [question_id in question_ids for question_id in ids]
                table = table.filter(pa.array(mask, pa.bool_()))
            return to_rows(table, row_type)

    def query(
        self,
        sql: str,
        views: Mapping[str, tuple[Sequence[Sequence[str]], type[Any]]],
        unreadable: dict[Table, str] | None = None,
        **parameters: object,
    ) -> pa.Table:
        """Run SQL over tables.

        Args:
            sql: DuckDB's dialect, with ``$name`` for parameters.
            views: Asset keys and their common row type, by name of the view.
            unreadable: Receives unreadable tables with the reason; they are left out.
            parameters: Values of the parameters.

        Raises:
            TableError: If a table cannot be read and ``unreadable`` is None.
            HomeError: If the store of tables cannot be reached.
        """
        left_out: dict[Table, str] = {}
        result = duckdb_queries.run_sql(sql, self._views(views, left_out), parameters)
        if unreadable is not None:
            unreadable.update(left_out)
        elif left_out:
            raise TableError("; ".join(left_out.values()))
        return result

    def _views(
        self,
        views: Mapping[str, tuple[Sequence[Sequence[str]], type[Any]]],
        left_out: dict[Table, str],
    ) -> duckdb_queries.Views:
        """Sources of views; unreadable ones are added to ``left_out``."""
        view_sources: dict[str, tuple[list[duckdb_queries.Source], type[Any]]] = {}
        for name, (keys, row_type) in views.items():
            sources: list[duckdb_queries.Source] = []
            view_sources[name] = (sources, row_type)
            for key in keys:
                for part, source in self._sources(key, row_type):
                    if isinstance(source, str):
                        left_out[tuple(key), part] = source
                    else:
                        sources.append(source)
        return view_sources

    def _sources(
        self, key: Sequence[str], row_type: type[Any]
    ) -> list[tuple[str, duckdb_queries.Source | str]]:
        """DuckDB source of each partition, or the reason why it is unreadable."""
        try:
            parts = self.partitions(key)
        except TableError as error:
            return [("", str(error))]  # its partitions are unknown
        if folder := self.blobs.folder:
            open_source = partial(_inspect_file, folder / self.below(key), key, row_type)
            return [(part, open_source(part)) for part in parts]
        with ThreadPoolExecutor(_MAX_CONCURRENT) as threads:
            fetched = threads.map(partial(self._fetch, key, row_type), parts)
            return list(zip(parts, fetched, strict=True))

    def _fetch(self, key: Sequence[str], row_type: type[Any], part: str) -> pa.Table | str:
        """The verified rows of an object, or the reason why it cannot be read."""
        try:
            with self.open_verified(key, part) as table:
                require_columns(table.schema_arrow, row_type)
                return table.read().replace_schema_metadata()
        except TableError as error:
            return str(error)


def _inspect_file(
    folder: Path, key: Sequence[str], row_type: type[Any], part: str
) -> duckdb_queries.ParquetFile | str:
    """The verified file of a partition, or the reason why it cannot be read."""
    try:
        return duckdb_queries.inspect_table_file(
            folder / file_name(part), row_type, table_name(key, part)
        )
    except TableError as error:
        return str(error)


class TableIOManager(dg.ConfigurableIOManager):
    """Stores every asset annotated ``list[Row]`` as a table."""

    files: dg.ResourceDependency[TableFiles]
    _recent: dict[tuple[type[Any], FileState], Sequence[Any]] = PrivateAttr(default_factory=dict)

    def handle_output(self, context: dg.OutputContext, obj: Sequence[Any]) -> None:
        """Write the table of the asset or partition, or those of several partitions.

        Raises:
            TableError: If the ``PART_FIELD`` of a row names none of the run's partitions.
        """
        if field := context.definition_metadata.get(PART_FIELD):
            self._write_parts(context, obj, field)
            return
        partition = context.asset_partition_key if context.has_asset_partitions else ""
        context.add_output_metadata(self._write(context, obj, partition))

    def _write_parts(self, context: dg.OutputContext, rows: Sequence[Any], field: str) -> None:
        """Write the table of each partition of the run, with the rows that name it in a field."""
        parts = context.asset_partition_keys
        if unknown := {str(getattr(row, field)) for row in rows}.difference(parts):
            raise TableError(
                f"{context.asset_key.to_user_string()}: no partition {min(unknown)!r} for a row's"
                f" {field} (expected one of {', '.join(parts)}). Leave such rows out"
            )
        for part in parts:
            part_rows = [row for row in rows if getattr(row, field) == part]
            metadata = {"dagster/row_count": len(part_rows), **preview(part_rows)}
            metadata |= self._write(context, part_rows, part)
            context.step_context.add_asset_metadata(metadata, context.asset_key, part)

    def _write(
        self, context: dg.OutputContext, rows: Sequence[Any], partition: str
    ) -> dict[str, Any]:
        """Write a table, and return the metadata of its materialization."""
        key, row_type = context.asset_key.path, asset_row_type(context)
        footer = {DIGEST: digest(rows), **self.footer(context, rows, row_type)}
        location = self.files.write(key, rows, row_type, partition, footer)
        return {"path": dg.MetadataValue.path(location), TABLE_DIGEST: str(footer[DIGEST])}

    def footer(
        self, context: dg.OutputContext, rows: Sequence[Any], row_type: type[Any]
    ) -> Mapping[bytes, str | bytes]:
        """Further metadata of a table's file: questions keep the state of their source."""
        if row_type is not Question:
            return {}
        state = self.files.source_state([context.asset_key.path[0], "source"])
        return {SOURCE_STATE: state} if state else {}

    def load_input(self, context: dg.InputContext) -> Sequence[Any]:
        """Read the table of the input; of several partitions, their rows one after the other."""
        parts = context.asset_partition_keys if context.has_asset_partitions else [""]
        key, row_type = context.asset_key.path, asset_row_type(context)
        if len(parts) == 1:
            return self._rows(key, row_type, parts[0])
        return [row for part in parts for row in self.files.read(key, row_type, part)]

    def _rows(self, key: Sequence[str], row_type: type[Any], partition: str) -> Sequence[Any]:
        """Read a table, unless it is one of the last few and its file is unchanged."""
        if self.files.blobs.folder is None:
            return self.files.read(key, row_type, partition)
        state = (row_type, file_state(self.files.path(key, partition)))
        rows = self._recent.pop(state, None)
        if rows is None:
            rows = self.files.read(key, row_type, partition)
        self._recent[state] = rows
        if len(self._recent) > _RECENT:
            oldest, *_ = self._recent
            del self._recent[oldest]
        return rows


def table_output(
    rows: Rows,
    metadata: Mapping[str, dg.MetadataValue | str | int | float] | None = None,
    name: str = "result",
) -> dg.Output[Rows]:
    """Wrap a table for Dagster: versioned by its content, with counts and a preview."""
    n_failed = sum(bool(getattr(row, "error", "")) for row in rows)
    failures = {FAILED_REQUESTS: n_failed} if n_failed else {}
    return dg.Output(
        rows,
        output_name=name,
        data_version=dg.DataVersion(digest(rows)),
        metadata={**(metadata or {}), "dagster/row_count": len(rows), **failures, **preview(rows)},
    )


def partition_output(rows: Rows) -> dg.Output[Rows]:
    """Wrap tables of several partitions for Dagster; each gets metadata when it is written."""
    return dg.Output(rows, data_version=dg.DataVersion(digest(rows)))


def read_columns(
    tables: TableFiles,
    key: Sequence[str],
    row_type: type[Any],
    partition: str = "",
    names: Sequence[str] = (),
) -> dict[str, list[Any]]:
    """Read columns of a table as lists, in the order of its rows; without names, all columns.

    A column added after the table was written has its default in every row.

    Raises:
        TableError: If it was never written, has other columns, or is damaged.
    """
    if not tables.exists(key, partition):
        raise tables.missing_table_error(key, partition)
    names = names or [field.name for field in fields(row_type)]
    table = _read_table(tables, key, row_type, partition, names)
    return _columns_as_lists(table, row_type, names)


def read_question_ids(tables: TableFiles, key: Sequence[str]) -> pa.Array:
    """Read the ids of a table of questions, in their order; raises as ``read_columns``."""
    with tables.opened(key) as file:
        require_columns(file.schema_arrow, Question)
        return file.read(columns=["question_id"]).column(0).combine_chunks()


def read_by_question(  # noqa: PLR0913, PLR0917  (a table, its columns, and questions)
    tables: TableFiles,
    key: Sequence[str],
    row_type: type[Any],
    partition: str,
    names: Sequence[str],
    ids: pa.Array,
    n: int,
) -> Iterator[dict[str, list[Any]]]:
    """Read columns as ``read_columns`` does, in batches of ``n`` questions in the order of ``ids``.

    Rows about other questions are left out. Raises as ``read_columns``.
    """
    import pyarrow.compute as pc  # takes 0.05 s; most commands do not need it

    table = _read_table(tables, key, row_type, partition, {*names, "question_id"})
    positions = pc.index_in(table.column("question_id").cast(pa.string()), value_set=ids)
    positions = positions.fill_null(len(ids)).to_numpy()  # rows about other questions come last
    order = np.argsort(positions, kind="stable")
    batch_starts = np.searchsorted(positions, [*range(0, len(ids), n), len(ids)], sorter=order)
    for start, end in pairwise(batch_starts):
        yield _columns_as_lists(table.take(order[start:end]), row_type, names)


def _read_table(
    tables: TableFiles,
    key: Sequence[str],
    row_type: type[Any],
    partition: str,
    names: Collection[str],
) -> pa.Table:
    """Read the named columns, without those that the file does not have."""
    with tables.opened(key, partition) as file:
        require_columns(file.schema_arrow, row_type)
        return file.read(columns=[name for name in file.schema_arrow.names if name in names])


def _columns_as_lists(
    table: pa.Table, row_type: type[Any], names: Sequence[str]
) -> dict[str, list[Any]]:
    """Columns as lists; a missing column has its default in every row."""
    columns = {}
    for name in names:
        if name in table.column_names:
            columns[name] = table.column(name).to_pylist()
        else:
            columns[name] = [_default_value(row_type, name)] * table.num_rows
    return columns


def _default_value(row_type: type[Any], name: str) -> object:
    """Default of a missing column; [] for lists and mappings, as Arrow converts them."""
    (field,) = (field for field in fields(row_type) if field.name == name)
    arrow_type = arrow_schema(row_type).field(name).type
    if pa.types.is_list(arrow_type) or pa.types.is_map(arrow_type):
        return []
    return None if field.default is MISSING else field.default
