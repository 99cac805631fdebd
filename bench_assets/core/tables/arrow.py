"""Conversion of rows (dataclasses) to and from Arrow tables and JSON."""

import hashlib
import json
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, asdict, fields
from functools import cache
from importlib.abc import MetaPathFinder
from math import isnan
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import pyarrow as pa

from bench_assets.core.schema.errors import TableError

Row = TypeVar("Row")

_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class _NoPandas(MetaPathFinder):
    """Import finder that hides pandas."""

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> None:
        if fullname == "pandas":
            raise ImportError(fullname)


def _convert_without_pandas() -> None:
    """Hide pandas while pyarrow converts its first list.

    pyarrow would import pandas to check whether the list is a Series, which costs a third of a
    second and 45 MB. ``to_pandas`` still imports it.
    """
    if "pandas" not in sys.modules:
        finder = _NoPandas()
        sys.meta_path.insert(0, finder)
        try:
            pa.array([])
        finally:
            sys.meta_path.remove(finder)


_convert_without_pandas()

_SCALARS = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def arrow_schema(row_type: type[Any]) -> pa.Schema:
    """Arrow schema of a row type."""
    return _row_schema(cast(Hashable, row_type)).columns


def to_table(rows: Iterable[Any], row_type: type[Any]) -> pa.Table:
    """Convert rows to a table, in order.

    Raises:
        TableError: If a value does not fit its column's type.
    """
    listed = list(rows)
    columns = arrow_schema(row_type)
    arrays = [_arrow_column(listed, column, row_type) for column in columns]
    return pa.Table.from_arrays(arrays, schema=columns)


def _arrow_column(rows: Sequence[Any], column: pa.Field, row_type: type[Any]) -> pa.Array:
    try:
        return pa.array([_arrow_value(getattr(row, column.name)) for row in rows], type=column.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError) as error:
        raise TableError(f"{row_type.__name__} table: column {column.name}: {error}") from error


def to_rows(table: pa.Table, row_type: type[Row]) -> list[Row]:
    """Convert a table to rows, in order.

    A column may be absent if its field has a default value: the table is older than the field.

    Raises:
        TableError: If the other columns are not exactly those of ``row_type``, by name and type,
            or lack a value; names the difference.
    """
    require_columns(table.schema, row_type)
    for name in _row_schema(cast(Hashable, row_type)).required & set(table.schema.names):
        if n := table.column(name).null_count:
            raise TableError(f"{row_type.__name__} table: {n} rows have no value in column {name}")
    present = [field for field in arrow_schema(row_type) if field.name in table.schema.names]
    names = [field.name for field in present]
    cells = [_column_values(table.column(field.name), field.type) for field in present]
    return [
        row_type(**dict(zip(names, record, strict=True))) for record in zip(*cells, strict=True)
    ]


def _column_values(stored: pa.ChunkedArray, declared: pa.DataType) -> list[Any]:
    """Values of a column as Python objects, lists as tuples and maps as dictionaries."""
    values: list[Any] = stored.to_pylist()
    if pa.types.is_map(declared) and pa.types.is_list(declared.item_type):
        return [{name: tuple(items) for name, items in value} for value in values]
    if pa.types.is_map(declared):
        return [dict(value) for value in values]
    if pa.types.is_list(declared):
        return [tuple(value) for value in values]
    return values


def require_columns(stored: pa.Schema, row_type: type[Any]) -> None:
    """Require the columns of a row type; those with a default value may be absent.

    Raises:
        TableError: Names the columns that are missing, unknown, duplicate or of another type.
    """
    declared = arrow_schema(row_type)
    if stored.equals(declared):
        return
    names, declared_names = set(stored.names), set(declared.names)
    optional = {field.name for field in fields(row_type) if field.default is not MISSING}
    unknown, missing = names - declared_names, declared_names - names - optional
    duplicates = {name for name in names if stored.names.count(name) > 1}
    if wrong := sorted(unknown | missing | duplicates):
        raise TableError(
            f"{row_type.__name__} table differs in {wrong}: written by another version?"
        )
    for field in stored:
        expected = declared.field(field.name).type
        if not _fits(field.type, expected):
            raise TableError(
                f"{row_type.__name__} table: column {field.name} is {field.type}, not {expected}:"
                " written by another version?"
            )


def to_json(row: Any) -> dict[str, Any]:  # noqa: ANN401
    """Convert a row to a JSON object with the fields of its type; NaN becomes null.

    >>> from bench_assets.core.schema.rows import Rejection
    >>> to_json(Rejection(entry="data.json, entry 3", reason="no answer"))
    {'entry': 'data.json, entry 3', 'reason': 'no answer'}
    """
    return {
        name: None if isinstance(value, float) and isnan(value) else value
        for name, value in asdict(row).items()
    }


def digest(rows: Iterable[Any]) -> str:
    """Digest of a table's content: equal rows in the same order have the same digest."""
    state, names = hashlib.sha256(), list[str]()
    for row in rows:
        names = names or [field.name for field in fields(row)]
        line = _ENCODER.encode({name: getattr(row, name) for name in names})
        state.update(f"{line}\n".encode("utf-8", "surrogatepass"))
    return state.hexdigest()


def _arrow_type(hint: Any) -> pa.DataType:  # noqa: ANN401
    """Arrow type of a field's type hint; an optional field has the type of its values."""
    if get_origin(hint) is UnionType:
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    if hint in _SCALARS:
        return _SCALARS[hint]
    if get_origin(hint) is Literal:
        return pa.string()
    if get_origin(hint) is tuple:
        return pa.list_(_arrow_type(get_args(hint)[0]))
    if get_origin(hint) is Mapping:
        return pa.map_(*map(_arrow_type, get_args(hint)))
    raise TypeError(f"a row cannot hold {hint}")


class _RowSchema(NamedTuple):
    """Columns of a row type; cached, because it is slow to derive."""

    columns: pa.Schema
    required: frozenset[str]  # names of columns without a default that are never None


@cache
def _row_schema(row_type: Any) -> _RowSchema:  # noqa: ANN401
    hints = get_type_hints(row_type)
    required = (
        field.name
        for field in fields(row_type)
        if field.default is MISSING and NoneType not in get_args(hints[field.name])
    )
    columns = pa.schema([(f.name, _arrow_type(hints[f.name])) for f in fields(row_type)])
    return _RowSchema(columns, frozenset(required))


def _fits(stored: pa.DataType, declared: pa.DataType) -> bool:
    """Whether values of a type fit a column; a column without values fits any type."""
    types = pa.types
    if types.is_null(stored):
        return True
    if types.is_list(declared):
        return types.is_list(stored) and _fits(stored.value_type, declared.value_type)
    if types.is_map(declared):
        return bool(types.is_map(stored))
    type_checks = (types.is_string, types.is_integer, types.is_floating, types.is_boolean)
    return any(check(stored) and check(declared) for check in type_checks)


def _arrow_value(value: Any) -> Any:  # noqa: ANN401
    """Value of a cell as pyarrow takes it: a mapping as sorted pairs."""
    return sorted(value.items()) if isinstance(value, Mapping) else value
