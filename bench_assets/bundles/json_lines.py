"""Rows as JSON lines and back: the same rows give the same bytes, and no others are read."""

import json
from collections.abc import Sequence
from dataclasses import MISSING, fields
from math import nan
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

import pyarrow as pa

from bench_assets.core.schema.errors import SourceError, TableError
from bench_assets.core.tables.arrow import schema, to_json, to_rows

Row = TypeVar("Row")


def to_lines(rows: Sequence[Any]) -> bytes:
    """Write one object a line, fields in the order of their type; NaN is null.

    Raises:
        TableError: If a number is infinite, which JSON cannot say.
    """
    return b"".join(_line(_entry_of(row)) for row in rows)


def from_lines(data: bytes, row_type: type[Row], where: str) -> list[Row]:
    """Read what ``to_lines`` wrote; a field that has a default may be absent, from all lines.

    Raises:
        SourceError: If anything stands there that ``to_lines`` would have written otherwise: a
            field twice, unknown or of another type, spaces, a line cut short; names the line.
    """
    entries, names = [], list[str]()
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        entry = _entry(line, f"{where}, line {number}")
        names = names or list(entry)
        if list(entry) != names or _line(entry) != line:
            raise SourceError(f"{where}, line {number}: not as it was written")
        entries.append(entry)
    if entries:
        _require_fields(names, row_type, f"{where}, line 1")
    numbers = _always_numbers(row_type) & set(names)
    for entry in entries:
        entry |= {name: nan for name in numbers if entry[name] is None}
    rows = _rows(entries, row_type, where, names)
    for number, (row, line) in enumerate(zip(rows, data.splitlines(keepends=True), strict=True), 1):
        said = _entry_of(row)
        if _line({name: said[name] for name in names}) != line:
            raise SourceError(f"{where}, line {number}: a value is not of its field's type")
    return rows


def _entry_of(row: object) -> dict[str, Any]:
    """A row as JSON, the keys of its mappings in order."""
    return {
        name: dict(sorted(value.items())) if isinstance(value, dict) else value
        for name, value in to_json(row).items()
    }


def _line(entry: dict[str, Any]) -> bytes:
    try:
        return json.dumps(entry, separators=(",", ":"), allow_nan=False).encode() + b"\n"
    except ValueError as why:
        raise TableError(f"a number cannot be written as JSON: {entry!r:.200}") from why


def _entry(line: bytes, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as why:  # no UTF-8, no JSON, a number of many digits
        raise SourceError(f"{where}: not JSON, or cut short: {why!s:.200}") from why
    if not isinstance(entry, dict):
        raise SourceError(f"{where}: expected an object, found {entry!r:.60}")
    return entry


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _rows(
    entries: Sequence[dict[str, Any]], row_type: type[Row], where: str, names: Sequence[str]
) -> list[Row]:
    columns = schema(row_type)
    if names:
        columns = pa.schema([column for column in columns if column.name in names])
    pairs = [column.name for column in columns if pa.types.is_map(column.type)]
    for entry in entries:
        entry |= {name: _pairs(entry[name]) for name in pairs}
    try:
        return to_rows(pa.Table.from_pylist(list(entries), schema=columns), row_type)
    except (pa.ArrowException, TypeError, ValueError, TableError) as why:
        raise SourceError(f"{where}: no table of {row_type.__name__}: {why!s:.200}") from why


def _pairs(value: object) -> object:
    return sorted(value.items()) if isinstance(value, dict) else value


def _require_fields(names: Sequence[str], row_type: type[Any], where: str) -> None:
    known = {field.name: field for field in fields(row_type)}
    if strange := [name for name in names if name not in known]:
        raise SourceError(f"{where}: unknown field {strange[0]!r}: written by a newer version?")
    needed = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING]
    if missing := [name for name in needed if name not in names]:
        raise SourceError(f"{where}: no field {missing[0]!r}")


def _always_numbers(row_type: type[Any]) -> set[str]:
    """Fields that always hold a number, of which null is NaN."""
    hints = get_type_hints(row_type)
    return {
        name for name, hint in hints.items() if hint is float and NoneType not in get_args(hint)
    }
