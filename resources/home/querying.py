"""SQL over the files of tables, by DuckDB."""

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from bench_assets.core.errors import TableError
from bench_assets.core.tables import schema

Views: TypeAlias = Mapping[str, tuple[Sequence[Path], type[Any]]]  # name -> files, type of rows


def run(sql: str, views: Views, parameters: Mapping[str, object]) -> pa.Table:
    """Run SQL over files that are known to be there; a view without files has no rows.

    Raises:
        TableError: If DuckDB cannot read one of them, or takes the SQL for a mistake.
    """
    import duckdb

    try:
        with duckdb.connect() as db:
            for name, (files, row_type) in views.items():
                if files:
                    # DuckDB takes "?", "*" and "[" in a path for patterns.
                    exact = [glob.escape(str(file)) for file in files]
                    db.read_parquet(exact, union_by_name=True).create_view(name)
                else:
                    db.from_arrow(schema(row_type).empty_table()).create_view(name)
            return db.sql(sql, params=dict(parameters)).to_arrow_table()
    except duckdb.Error as why:
        raise TableError(f"{', '.join(views)}: {why}") from why
