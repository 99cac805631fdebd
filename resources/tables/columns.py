"""Table columns as Arrow arrays, without row objects."""

from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import Any

import pyarrow as pa

from bench_assets.core.schema.errors import TableError
from bench_assets.core.tables.arrow import require_columns, schema
from resources.tables.parquet import TableFiles


def read_columns(
    tables: TableFiles,
    key: Sequence[str],
    row_type: type[Any],
    partition: str = "",
    names: Sequence[str] = (),
) -> dict[str, list[Any]]:
    """Read columns of a table as lists, in the order of its rows.

    A column that the table is too old for has its default in every row.

    Args:
        tables: Where the table lies.
        key: Whose table.
        row_type: What a row of it is.
        partition: Of which partition.
        names: Which columns; none named: all.

    Raises:
        TableError: If it was never written, or by code with other columns; if it is not as it was
            written.
    """
    if not tables.exists(key, partition):
        raise TableError(f"{'/'.join(key)} {partition}: no table yet; materialize it first")
    wanted = list(names) or [field.name for field in fields(row_type)]
    with tables.opened(key, partition) as file:
        require_columns(file.schema_arrow, row_type)
        there = set(file.schema_arrow.names)
        table = file.read(columns=[name for name in wanted if name in there])
        known = {name: table.column(name).to_pylist() for name in table.column_names}
        lacking = {name: [_default(row_type, name)] * table.num_rows for name in {*wanted} - there}
    return {name: (known | lacking)[name] for name in wanted}


def _default(row_type: type[Any], name: str) -> object:
    """What stands in a column that is not there, in the form in which Arrow gives it."""
    (field,) = (one for one in fields(row_type) if one.name == name)
    kind = schema(row_type).field(name).type
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        return []
    return None if field.default is MISSING else field.default
