"""Tables as Parquet files: one folder per asset, one file per partition.

Not one DuckDB database, which a single process would hold. DuckDB reads the folders instead.
"""

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, get_args

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.errors import TableError
from bench_assets.core.tables import digest, require_columns, to_json, to_rows, to_table
from resources.disk.writing import written_aside
from resources.home import querying
from resources.home.seals import Seal, verify, write_sealed
from resources.home.table_places import TablePlaces

Row = TypeVar("Row")

_DIGEST = b"bench_digest"
_PREVIEW_ROWS = 8
_PREVIEW_CHARACTERS = 160
_AGAIN = "materialize it again; `bench verify` names the command"
# What Arrow raises at bytes that are no table; only files that are older than seals come so far.
_NO_TABLE = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, MemoryError)


class TableFiles(TablePlaces):
    """The tables of a home folder."""

    def write(
        self, key: Sequence[str], rows: Sequence[Any], row_type: type[Any], partition: str = ""
    ) -> Path:
        """Write a table so that readers see the old file or the new one, never half of one."""
        path = self.path(key, partition)
        table = to_table(rows, row_type).replace_schema_metadata({_DIGEST: digest(rows)})
        with written_aside(path) as file:
            write_sealed(table, file)
        return path

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
        with self._opened(key, partition) as file:
            table = file.read()
            if of is not None:
                wanted = [name in of for name in table.column("question_id").to_pylist()]
                table = table.filter(pa.array(wanted, pa.bool_()))
            return to_rows(table, row_type)

    def digest(self, key: Sequence[str], partition: str = "") -> str | None:
        """Digest of a table's content, without parsing it; None if it was never written.

        Raises:
            TableError: If the table is not as it was written.
        """
        if not self.exists(key, partition):
            return None
        with self._opened(key, partition) as file:
            return str((file.schema_arrow.metadata or {})[_DIGEST].decode())

    def has_errors(self, key: Sequence[str], partition: str = "") -> bool:
        """Whether a table has a row with an ``error``; without a table or such a column, no.

        Raises:
            TableError: If the table is not as it was written.
        """
        if not self.exists(key, partition):
            return False
        with self._opened(key, partition) as file:
            if "error" not in file.schema_arrow.names:
                return False
            return any(file.read(columns=["error"]).column("error").to_pylist())

    def seal(self, key: Sequence[str], partition: str = "") -> Seal:
        """Verify a table against the digest in its file, if it is not older than digests.

        Raises:
            TableError: If it is not as it was written, or cannot be read.
        """
        path = self.path(key, partition)
        with _told(path), path.open("rb") as file:
            return verify(file)

    @contextmanager
    def _opened(self, key: Sequence[str], partition: str) -> Iterator[pq.ParquetFile]:
        path = self.path(key, partition)
        try:
            data = io.BytesIO(path.read_bytes())
        except FileNotFoundError as why:
            name = "/".join(key) + (f" of {partition}" if partition else "")
            others = [one for one in self.elsewhere(key[0]) if one.exists(key, partition)]
            also = "; there is one of another source, see --source" if others else ""
            raise TableError(f"{name}: no table yet; materialize it first ({path}){also}") from why
        except OSError as why:
            raise TableError(f"{path}: cannot be read: {why.strerror}") from why
        with _told(path):
            verify(data)
            # Not read_table: it imports pyarrow.dataset, which takes 15 MB and 0.1 s.
            with pq.ParquetFile(
                pa.BufferReader(data.getbuffer()), page_checksum_verification=True
            ) as file:
                yield file

    def query(
        self,
        sql: str,
        views: Mapping[str, tuple[Sequence[Sequence[str]], type[Any]]],
        unreadable: dict[Path, str] | None = None,
        **parameters: object,
    ) -> pa.Table:
        """Run SQL over tables.

        Args:
            sql: DuckDB's dialect, with ``$name`` for parameters.
            views: View name -> (keys of the assets behind it, row type of them all).
            unreadable: Is told of files that cannot be read, and why; they are left out.
            parameters: Values of the parameters.

        Raises:
            TableError: If a file cannot be read and nobody is told.
        """
        left_out: dict[Path, str] = {}
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
        left_out: dict[Path, str],
        *,
        thorough: bool,
    ) -> querying.Views:
        """Find the files behind views, without those that cannot be read."""
        found: dict[str, tuple[list[Path], type[Any]]] = {}
        for name, (keys, row_type) in views.items():
            files, _ = found.setdefault(name, ([], row_type))
            for key, partition in ((k, one) for k in keys for one in self.partitions(k)):
                path = self.path(key, partition)
                try:
                    sealed = self.seal(key, partition) == "whole"
                    if thorough and not sealed:
                        self.read(key, row_type, partition)
                    with _told(path):
                        require_columns(pq.read_schema(path), row_type)
                    files.append(path)
                except TableError as why:
                    left_out[path] = str(why)
        return found


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


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say of which file it is that something is wrong, and what to do."""
    try:
        yield
    except TableError as why:
        raise TableError(str(why) if _AGAIN in str(why) else f"{path}: {why}; {_AGAIN}") from why
    except _NO_TABLE as why:
        raise TableError(f"{path}: cannot be read as a table ({why}); {_AGAIN}") from why


def _shown(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= _PREVIEW_CHARACTERS else text[: _PREVIEW_CHARACTERS - 1] + "…"


def _row_type(context: dg.OutputContext | dg.InputContext) -> type[Any]:
    (row_type,) = get_args(context.dagster_type.typing_type)
    assert isinstance(row_type, type)
    return row_type
