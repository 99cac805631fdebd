"""Tables as Parquet files: one folder per asset, one file per partition.

Not one DuckDB database, which a single process would hold. DuckDB reads the folders instead; where
tables are objects that homes share, they are fetched for it, many at a time.
"""

import io
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, get_args

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.errors import TableError
from bench_assets.core.tables import digest, require_columns, to_json, to_rows, to_table
from resources.disk.writing import written_aside
from resources.home import querying
from resources.home.gathered_tables import Fetched, fetch_all, gathered
from resources.home.seals import write_sealed
from resources.home.table_bytes import DIGEST, WRITTEN, TableBytes, told

Row = TypeVar("Row")

Table: TypeAlias = tuple[tuple[str, ...], str]
"""The key of an asset, and a partition; "" of one that has none."""

_PREVIEW_ROWS = 8
_PREVIEW_CHARACTERS = 160


class TableFiles(TableBytes):
    """The tables of a home folder."""

    def write(
        self, key: Sequence[str], rows: Sequence[Any], row_type: type[Any], partition: str = ""
    ) -> str:
        """Write a table so that readers see the old one or the new one, never half of one.

        Returns:
            Where it is: a path, or the address of an object.
        """
        about = {DIGEST: digest(rows), WRITTEN: f"{time.time():.6f}"}
        table = to_table(rows, row_type).replace_schema_metadata(about)
        if self.blobs.folder is None:
            whole = io.BytesIO()
            write_sealed(table, whole)
            self.blobs.put(self.name(key, partition), whole.getvalue())
        else:
            with written_aside(self.path(key, partition)) as file:
                write_sealed(table, file)
        return self.place(key, partition)

    def read(
        self,
        key: Sequence[str],
        row_type: type[Row],
        partition: str = "",
        of: Collection[str] | None = None,
    ) -> list[Row]:
        """Read a table; ``of`` these questions, None: all. To make rows is what takes long.

        Raises:
            TableError: If it was never written, or by code with other columns; if it is not as it
                was written.
        """
        with self.opened_whole(key, partition) as file:
            table = file.read()
            if of is not None:
                wanted = [name in of for name in table.column("question_id").to_pylist()]
                table = table.filter(pa.array(wanted, pa.bool_()))
            return to_rows(table, row_type)

    def has_errors(self, key: Sequence[str], partition: str = "") -> bool:
        """Whether a table has a row with an ``error``; without a table or such a column, no.

        Raises:
            TableError: If the table is not as it was written.
        """
        if not self.exists(key, partition):
            return False
        with self.opened_whole(key, partition) as file:
            if "error" not in file.schema_arrow.names:
                return False
            return any(file.read(columns=["error"]).column("error").to_pylist())

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
            views: View name -> (keys of the assets behind it, row type of them all).
            unreadable: Is told of tables that cannot be read, and why; they are left out.
            parameters: Values of the parameters.

        Raises:
            TableError: If a table cannot be read and nobody is told.
            HomeError: If the store that they are in cannot be reached.
        """
        left_out: dict[Table, str] = {}
        try:
            found = querying.run(sql, self._views(views, left_out, thorough=False), parameters)
        except TableError:
            # Of files that are older than seals, only reading them tells which it is.
            found = querying.run(sql, self._views(views, left_out, thorough=True), parameters)
        if unreadable is not None:
            unreadable.update(left_out)
        elif left_out:
            raise TableError("; ".join(left_out.values()))
        return found

    def _views(
        self,
        views: Mapping[str, tuple[Sequence[Sequence[str]], type[Any]]],
        left_out: dict[Table, str],
        *,
        thorough: bool,
    ) -> querying.Views:
        """Find what is behind views, without what cannot be read."""
        found: dict[str, tuple[list[querying.Source], type[Any]]] = {}
        for name, (keys, row_type) in views.items():
            sources, _ = found.setdefault(name, ([], row_type))
            for key in keys:
                for part, source in self._sources(key, row_type, thorough=thorough):
                    if isinstance(source, str):
                        left_out[tuple(key), part] = source
                    else:
                        sources.append(source)
        return found

    def _sources(
        self, key: Sequence[str], row_type: type[Any], *, thorough: bool
    ) -> Iterable[tuple[str, querying.Source | str]]:
        """What DuckDB reads each table from: a file, or the rows of an object; or why it cannot."""
        versions = dict(sorted(self.versions(key).items()))

        def fetched(part: str) -> Fetched:
            try:
                return self._fetched(key, part, row_type, thorough=thorough)
            except TableError as why:
                return str(why)

        def file(part: str) -> querying.Source | str:
            try:
                return self._file(key, part, row_type, thorough=thorough)
            except TableError as why:
                return str(why)

        if self.blobs.folder is not None:
            return ((part, file(part)) for part in versions)
        if thorough:
            return fetch_all(versions, fetched).items()
        return gathered(self.blobs, self.below(key), versions, row_type, fetched).items()

    def _file(
        self, key: Sequence[str], partition: str, row_type: type[Any], *, thorough: bool
    ) -> Path:
        path = self.path(key, partition)
        sealed = self.seal(key, partition) == "whole"
        if thorough and not sealed:
            self.read(key, row_type, partition)
        with told(str(path)):
            require_columns(pq.read_schema(path), row_type)
        return path

    def _fetched(
        self, key: Sequence[str], partition: str, row_type: type[Any], *, thorough: bool
    ) -> pa.Table:
        with self.opened_whole(key, partition) as file:
            require_columns(file.schema_arrow, row_type)
            table = file.read()
        if thorough:
            to_rows(table, row_type)
        return table.replace_schema_metadata()


class RowTables(dg.ConfigurableIOManager):
    """Stores every asset annotated ``list[Row]`` as a table."""

    files: TableFiles

    def handle_output(self, context: dg.OutputContext, obj: Sequence[Any]) -> None:
        """Write the table of the asset, or of its one partition."""
        partition = context.asset_partition_key if context.has_asset_partitions else ""
        place = self.files.write(context.asset_key.path, obj, _row_type(context), partition)
        context.add_output_metadata({"path": dg.MetadataValue.path(place)})

    def load_input(self, context: dg.InputContext) -> list[Any]:
        """Read one partition, or all of them for an asset that gathers models."""
        keys = context.asset_partition_keys if context.has_asset_partitions else [""]
        row_type = _row_type(context)
        return [
            row for key in keys for row in self.files.read(context.asset_key.path, row_type, key)
        ]


def table_output(
    rows: list[Row],
    metadata: Mapping[str, dg.MetadataValue | str | int | float] | None = None,
    name: str = "result",
) -> dg.Output[list[Row]]:
    """Wrap a table for Dagster: versioned by its content, with row count and preview.

    Args:
        rows: The table.
        metadata: What else the UI shows beside it.
        name: Of the output, where an asset gives out several tables one after the other.
    """
    return dg.Output(
        rows,
        output_name=name,
        data_version=dg.DataVersion(digest(rows)),
        metadata={**(metadata or {}), "dagster/row_count": len(rows), **preview(rows)},
    )


def preview(rows: Sequence[Any], n: int = _PREVIEW_ROWS) -> dict[str, dg.MetadataValue]:
    """Show the first rows, long texts cut, as a table of the UI; nothing if there are none."""
    if not rows:
        return {}
    records = [
        dg.TableRecord({name: _shown(value) for name, value in to_json(row).items()})
        for row in rows[:n]
    ]
    return {"preview": dg.MetadataValue.table(records)}


def _shown(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= _PREVIEW_CHARACTERS else text[: _PREVIEW_CHARACTERS - 1] + "…"


def _row_type(context: dg.OutputContext | dg.InputContext) -> type[Any]:
    (row_type,) = get_args(context.dagster_type.typing_type)
    assert isinstance(row_type, type)
    return row_type
