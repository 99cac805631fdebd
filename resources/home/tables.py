"""Tables as Parquet files: one folder per asset, one file per partition.

Parquet rather than one DuckDB database, because DuckDB lets a single process hold a database file
and a backfill runs many. DuckDB reads the folders instead, see ``TableFiles.query``.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args
from urllib.parse import quote, unquote

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.errors import TableError
from bench_assets.core.tables import digest, schema, to_json, to_rows, to_table

Row = TypeVar("Row")

_WHOLE = "all"  # the file of a table without partitions
_DIGEST = b"bench_digest"
_PREVIEW_ROWS = 8
_PREVIEW_CHARACTERS = 160


class TableFiles(dg.ConfigurableResource[Any]):
    """The folder all tables lie in."""

    folder: str

    def path(self, key: Sequence[str], partition: str = "") -> Path:
        """Where one partition of an asset's table is, or would be."""
        return Path(self.folder, *key, f"{quote(partition, safe='@+=') or _WHOLE}.parquet")

    def exists(self, key: Sequence[str], partition: str = "") -> bool:
        """Whether the table was ever written."""
        return self.path(key, partition).exists()

    def partitions(self, key: Sequence[str]) -> list[str]:
        """Partitions that have a table, sorted."""
        return sorted(unquote(path.stem) for path in Path(self.folder, *key).glob("*.parquet"))

    def write(
        self, key: Sequence[str], rows: Sequence[Any], row_type: type[Any], partition: str = ""
    ) -> Path:
        """Write a table so that readers see the old file or the new one, never half of one."""
        path = self.path(key, partition)
        path.parent.mkdir(parents=True, exist_ok=True)
        table = to_table(rows, row_type).replace_schema_metadata({_DIGEST: digest(rows)})
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=".", suffix=".unfinished", delete=False
        ) as unfinished:
            pq.write_table(table, unfinished)
            unfinished.flush()
            os.fsync(unfinished.fileno())
        Path(unfinished.name).replace(path)
        return path

    def read(self, key: Sequence[str], row_type: type[Row], partition: str = "") -> list[Row]:
        """Read a table.

        Raises:
            TableError: If it was never written, or by code with other columns.
        """
        path = self.path(key, partition)
        try:
            # Not read_table: it imports pyarrow.dataset, which takes 15 MB and 0.1 s.
            with pq.ParquetFile(path) as file:
                return to_rows(file.read(), row_type)
        except FileNotFoundError as why:
            name = "/".join(key) + (f" of {partition}" if partition else "")
            raise TableError(f"{name}: no table yet; materialize it first ({path})") from why
        except (TableError, pa.ArrowInvalid) as why:
            raise TableError(f"{path}: {why}; materialize it again") from why

    def digest(self, key: Sequence[str], partition: str = "") -> str | None:
        """Digest of a table's content, without reading it; None if it was never written."""
        path = self.path(key, partition)
        if not path.exists():
            return None
        return str((pq.read_schema(path).metadata or {})[_DIGEST].decode())

    def has_errors(self, key: Sequence[str], partition: str = "") -> bool:
        """Whether a table has a row with an ``error``; without a table or such a column, no."""
        path = self.path(key, partition)
        if not path.exists() or "error" not in pq.read_schema(path).names:
            return False
        with pq.ParquetFile(path) as file:
            return any(file.read(columns=["error"]).column("error").to_pylist())

    def query(
        self,
        sql: str,
        views: Mapping[str, tuple[Sequence[Sequence[str]], type[Any]]],
        **parameters: object,
    ) -> pa.Table:
        """Run SQL over tables.

        Args:
            sql: DuckDB's dialect, with ``$name`` for parameters.
            views: View name -> (keys of the assets behind it, row type of them all).
            parameters: Values of the parameters.
        """
        import duckdb

        with duckdb.connect() as db:
            for name, (keys, row_type) in views.items():
                globs = [str(Path(self.folder, *key, "*.parquet")) for key in keys]
                globs = [pattern for pattern in globs if any(Path(pattern).parent.glob("*.par*"))]
                if globs:
                    db.read_parquet(globs, union_by_name=True).create_view(name)
                else:
                    db.from_arrow(schema(row_type).empty_table()).create_view(name)
            return db.sql(sql, params=parameters).to_arrow_table()


class RowTables(dg.ConfigurableIOManager):
    """Stores every asset annotated ``list[Row]`` as a table."""

    files: TableFiles

    def handle_output(self, context: dg.OutputContext, obj: Sequence[Any]) -> None:
        """Write the table of the asset, or of its one partition."""
        partition = context.asset_partition_key if context.has_asset_partitions else ""
        path = self.files.write(context.asset_key.path, obj, _row_type(context), partition)
        context.add_output_metadata({"path": dg.MetadataValue.path(path)})

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
