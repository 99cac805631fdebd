"""SQL over tables, by DuckDB: over their files, or over rows that were fetched."""

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from bench_assets.core.errors import TableError
from bench_assets.core.tables import schema

Source: TypeAlias = Path | pa.Table
"""A file, or the rows of what is none."""

Views: TypeAlias = Mapping[str, tuple[Sequence[Source], type[Any]]]  # name -> sources, type of rows


def run(sql: str, views: Views, parameters: Mapping[str, object]) -> pa.Table:
    """Run SQL over what is known to be there; a view without a source has no rows.

    Raises:
        TableError: If DuckDB cannot read one of them, or takes the SQL for a mistake.
    """
    import duckdb

    try:
        with duckdb.connect() as db:
            for name, (sources, row_type) in views.items():
                files = [one for one in sources if isinstance(one, Path)]
                if files:
                    # DuckDB takes "?", "*" and "[" in a path for patterns.
                    exact = [glob.escape(str(file)) for file in files]
                    db.read_parquet(exact, union_by_name=True).create_view(name)
                else:
                    fetched = [one for one in sources if not isinstance(one, Path)]
                    rows = fetched or [schema(row_type).empty_table()]
                    # To make columns alike that are takes long, of a thousand tables.
                    alike = all(one.schema == rows[0].schema for one in rows)
                    how = "none" if alike else "permissive"
                    joined = pa.concat_tables(rows, promote_options=how)
                    db.from_arrow(joined).create_view(name)
            return db.sql(sql, params=dict(parameters)).to_arrow_table()
    except duckdb.Error as why:
        raise TableError(f"{', '.join(views)}: {why}") from why
