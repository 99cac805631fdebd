"""Makes rows of a dataclass of JSON that others wrote."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_type_hints

from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import Entry, field

Row = TypeVar("Row")


def records(
    entries: Iterable[tuple[Entry, str]],
    row_type: type[Row],
    *,
    unique: Iterable[str] = (),
    closed: bool = False,
) -> list[Row]:
    """Make rows of entries, in order: each field under its own name and of exactly its type.

    A field that has a default may be absent. A field ``where`` is not read: it says where the
    entry stands, for later complaints.

    Args:
        entries: As ``json_entries`` reads them, with where each stands.
        row_type: A dataclass.
        unique: Fields in which no two rows may be the same, such as those that name a vote.
        closed: Whether fields that the row does not have are refused, so that a misspelt one that
            may be absent is not overlooked.

    Raises:
        SourceError: If an entry is no such row, or two are the same; names file and entry.
    """
    names, rows = tuple(unique), list[Row]()
    seen: dict[tuple[object, ...], str] = {}
    hints = get_type_hints(row_type)
    known = [name for name in hints if name != "where"]
    for entry, where in entries:
        if closed and (strange := [name for name in entry if name not in known]):
            there_are = ", ".join(known)
            raise SourceError(f"{where}: no such field: {strange[0]!r}; there are: {there_are}")
        row = _row(entry, row_type, hints, where)
        key = tuple(getattr(row, name) for name in names)
        if names and key in seen:
            same = ", ".join(names)
            raise SourceError(f"{where}: the same {same} as in {seen[key]}: {key}; keep one")
        seen[key] = where
        rows.append(row)
    return rows


def _row(entry: Entry, row_type: type[Row], hints: Mapping[str, type[Any]], where: str) -> Row:
    values: dict[str, Any] = {"where": where} if "where" in hints else {}
    for f in fields(row_type):  # type: ignore[arg-type]
        needed = f.default is MISSING and f.default_factory is MISSING
        if f.name not in values and (needed or f.name in entry):
            values[f.name] = _value(entry, f.name, hints[f.name], where)
    return row_type(**values)


def _value(entry: Entry, name: str, hint: Any, where: str) -> Any:  # noqa: ANN401
    """Take a field of its type; of one that may be None also null, and whole numbers for others."""
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    value = entry.get(name)
    if value is None and name in entry and NoneType in kinds:
        return None
    if float in kinds and type(value) is int:
        return float(value)
    return field(entry, name, kinds[0], where)
