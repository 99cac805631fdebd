"""SQL over tables with DuckDB: over files, or over fetched objects."""

import glob
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.schema.errors import TableError
from bench_assets.core.tables.arrow import arrow_schema, require_columns
from bench_resources.tables.file_bytes import (
    describe_table_errors,
    require_table_name,
    verify_checksum,
)

if TYPE_CHECKING:
    import duckdb


class ParquetFile(NamedTuple):
    """A Parquet file with its columns."""

    path: Path
    schema: pa.Schema


Source: TypeAlias = ParquetFile | pa.Table
"""A file, or the rows of a fetched object."""

Views: TypeAlias = Mapping[str, tuple[Sequence[Source], type[Any]]]  # name -> sources, type of rows


def inspect_table_file(path: Path, row_type: type[Any], table_name: str) -> ParquetFile:
    """Verify a table file without constructing its rows.

    Raises:
        TableError: If it is damaged, belongs to another table, or has other columns.
    """
    with describe_table_errors(str(path)):
        with path.open("rb") as file:
            verify_checksum(file)
        with pq.ParquetFile(pa.OSFile(str(path))) as file:
            columns = file.schema_arrow
        require_table_name(columns.metadata, table_name)
        require_columns(columns, row_type)
    return ParquetFile(path, columns)


def run_sql(sql: str, views: Views, parameters: Mapping[str, object]) -> pa.Table:
    """Run SQL over the known tables; a view without a source has no rows.

    Raises:
        TableError: If DuckDB cannot read a table, or rejects the SQL.
    """
    import duckdb

    try:
        with _database(os.getpid()).cursor() as db:  # temporary views belong to the cursor
            for name, (sources, row_type) in views.items():
                _create_view(db, name, sources, row_type)
            return db.sql(sql, params=dict(parameters)).to_arrow_table()
    except duckdb.Error as error:
        raise TableError(f"{', '.join(views)}: {error}") from error


def _create_view(
    db: "duckdb.DuckDBPyConnection", name: str, sources: Sequence[Source], row_type: type[Any]
) -> None:
    """Create a view of sources that are all files, or all fetched objects."""
    # Unifying schemas takes long for a thousand tables, even if they are equal.
    same_schema = all(source.schema == sources[0].schema for source in sources)
    files = [source.path for source in sources if isinstance(source, ParquetFile)]
    if files:
        # DuckDB takes "?", "*" and "[" in a path for patterns.
        paths = ", ".join(_quote(glob.escape(str(file))) for file in files)
        view = _quote(name, '"')
        db.execute(
            f"CREATE TEMP VIEW {view} AS FROM"
            f" read_parquet([{paths}], union_by_name = {not same_schema})"
        )
        return
    fetched = [source for source in sources if isinstance(source, pa.Table)]
    tables = fetched or [arrow_schema(row_type).empty_table()]
    promotion = "none" if same_schema else "permissive"
    db.register(name, pa.concat_tables(tables, promote_options=promotion))


@cache
def _database(_process: int) -> "duckdb.DuckDBPyConnection":
    """Open an in-memory database, cached per process because opening is slower than most queries.

    Nothing of a file is cached between queries, because it may change.
    """
    import duckdb

    return duckdb.connect(config={"enable_external_file_cache": False})


def _quote(text: str, mark: str = "'") -> str:
    """Quote a text for SQL, or a name with '"' as the quotation mark."""
    return mark + text.replace(mark, mark * 2) + mark
