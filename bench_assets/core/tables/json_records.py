"""Strict reading of JSON files into typed dataclasses; every error names the file and the entry."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.read_rows import record_row

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


Entry: TypeAlias = dict[str, Any]
Value = TypeVar("Value")

_ENTRY_SEPARATOR = re.compile(r"[\s,]*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_LFS_POINTER = b"version https://git-lfs.github.com/"
_BITS = 63  # bits of a whole number in a table, besides its sign
_TYPE_NAMES: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


class LocatedEntry(NamedTuple):
    """A value of a file with its location for messages; an error if it cannot be parsed."""

    value: object
    where: str

    @property
    def entry(self) -> Entry:
        """The value, which must be an object; records it as read.

        Raises:
            SourceError: If it is something else, or could not be parsed.
        """
        if isinstance(self.value, SourceError):
            raise self.value
        entry = _require_object(self.value, self.where)
        record_row(self.where, entry)
        return entry


def read_entries(file: Path) -> Iterator[LocatedEntry]:
    """Read a JSON list in UTF-8; an entry with a duplicate field is yielded as its error.

    Raises:
        SourceError: If the file cannot be read, or is not a JSON list.
    """
    for number, value in enumerate(_parse_list(read_text(file), str(file)), 1):
        where = f"{file}, entry {number}"
        if isinstance(value, dict) and "id" in value:
            where += f" (id {_shorten(value['id'])})"
        is_error = isinstance(value, SourceError)
        yield LocatedEntry(SourceError(f"{where}: {value}") if is_error else value, where)


def read_lines(file: Path) -> Iterator[LocatedEntry]:
    """Read JSON lines in UTF-8; blank lines are skipped, and invalid ones yielded as their errors.

    Raises:
        SourceError: If the file cannot be read, or its last line is incomplete.
    """
    lines = read_text(file).split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{file}, line {number}"
        value: object
        try:
            value = _parse(line, where)
        except SourceError as error:
            if number == len(lines):  # the file was cut short
                raise
            value = error
        yield LocatedEntry(value, where)


def parse_json(text: str) -> object:
    """Parse JSON, refusing duplicate fields, of which Python keeps only the last.

    >>> parse_json('{"answer": "A", "answers": ["A", "B"]}')
    {'answer': 'A', 'answers': ['A', 'B']}

    Raises:
        SourceError: If a field is duplicate; names the field.
        ValueError: If it is not JSON.
        RecursionError: If it is nested too deeply.
    """
    return _DECODER.decode(text)


def parse_object(text: str, where: str) -> Entry:
    """Parse a JSON object.

    Raises:
        SourceError: If it is not an object, or has a duplicate field; names ``where``.
    """
    return _require_object(_parse(text, where), where)


def read_json(file: Path) -> object:
    """Read a file that is one JSON value, refusing duplicate fields.

    Raises:
        SourceError: If it cannot be read, is not JSON, or has a duplicate field; names the file.
    """
    return _parse(read_text(file), str(file))


def read_object(file: Path) -> Entry:
    """Read a file that is one JSON object, and record it as a row.

    Raises:
        SourceError: If it cannot be read, is not an object, or has a duplicate field.
    """
    entry = parse_object(read_text(file), str(file))
    record_row(str(file), entry)
    return entry


def require_field(entry: Entry, name: str, kind: type[Value], where: str) -> Value:
    """Field of an entry, of exactly this type.

    Raises:
        SourceError: If it is missing, of another type, a whole number that no table can hold, or a
            text with a lone surrogate.

    >>> require_field({"id": "017"}, "id", str, where="data.json, entry 18")
    '017'
    """
    if name not in entry:
        raise SourceError(f"{where}: no field {name!r}; it has: {', '.join(entry) or 'none'}")
    value = entry[name]
    if type(value) is not kind:
        expected = _TYPE_NAMES[kind]
        raise SourceError(f"{where}: field {name!r} is {_shorten(value)}, expected {expected}")
    if isinstance(value, int) and value.bit_length() > _BITS:
        expected = f"{_TYPE_NAMES[kind]} of 64 bits"
        raise SourceError(f"{where}: field {name!r} is {_shorten(value)}, expected {expected}")
    if isinstance(value, str) and not value.isascii() and _LONE_SURROGATE.search(value):
        raise SourceError(f"{where}: field {name!r} has a lone surrogate: {value!a}")
    return value


def _require_object(value: object, where: str) -> Entry:
    if not isinstance(value, dict):
        raise SourceError(f"{where}: expected an object, found {_shorten(value)}")
    return value


def _shorten(value: object) -> str:
    return f"{value!r:.60}"


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> Entry:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        duplicate, _ = counts.most_common(1)[0]
        raise SourceError(f"duplicate field {_shorten(duplicate)}; remove one")
    return entry


# Shared, which saves a third of the time.
_DECODER = json.JSONDecoder(object_pairs_hook=_reject_duplicates)


def _parse(text: str, where: str, decoder: json.JSONDecoder = _DECODER) -> object:
    """Parse JSON; each error is a ``SourceError`` that names ``where``."""
    try:
        return decoder.decode(text)
    except SourceError as error:
        raise SourceError(f"{where}: {error}") from error
    except ValueError as error:  # a JSONDecodeError, or a number of thousands of digits
        problem = f"not JSON, or cut short: {error}. Mend it, or copy it again"
        raise unreadable(where, problem) from error
    except RecursionError as error:
        raise unreadable(where, "lists and objects are nested too deeply to be read") from error


def _parse_list(text: str, where: str) -> list[object]:
    """Parse a list; an entry with a duplicate field is replaced by its ``SourceError``."""
    try:
        entries = _parse(text, where)
    except SourceError:
        if not text.lstrip().startswith("["):
            raise
        entries = _parse_entries(text, where)
    if not isinstance(entries, list):
        raise SourceError(
            f"{where}: expected a list of entries at the top, found {_shorten(entries)}"
        )
    return entries


def _parse_entries(text: str, where: str) -> list[object]:
    """Parse a list entry by entry, if duplicate fields are its only error."""
    lenient_decoder = json.JSONDecoder()
    _parse(text, where, lenient_decoder)
    entries: list[object] = []
    start = _skip_separators(text, text.index("[") + 1)
    while text[start] != "]":
        _, end = lenient_decoder.raw_decode(text, start)
        try:
            entry, _ = _DECODER.raw_decode(text, start)
            entries.append(entry)
        except SourceError as error:
            entries.append(error)
        start = _skip_separators(text, end)
    return entries


def _skip_separators(text: str, start: int) -> int:
    """Index of the next entry of a list, or of the end of the list."""
    match = _ENTRY_SEPARATOR.match(text, start)
    return match.end() if match else start


def read_text(file: Path) -> str:
    """Read a file of text, without a byte order mark.

    Raises:
        SourceError: If it cannot be read, or is not UTF-8.
    """
    refuse_pointer(file)
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise unreadable(str(file), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise unreadable(f"{file}, line {line}", f"not UTF-8 text: {error}") from error


def refuse_pointer(file: Path) -> None:
    """Refuse a file that is only a Git LFS pointer.

    Raises:
        SourceError: If it is one.
    """
    with suppress(OSError), file.open("rb") as opened:
        if opened.read(len(_LFS_POINTER)) == _LFS_POINTER:
            raise unreadable(str(file), "a pointer of Git LFS to the file. Run git lfs pull")


def refuse_duplicate_columns(names: Iterable[str], file: Path) -> None:
    """Refuse a table with duplicate column names; several columns may have an empty one.

    Raises:
        SourceError: If there are any.
    """
    if twins := [name for name, n in Counter(names).items() if name and n > 1]:
        raise SourceError(f"{file}: duplicate column {_shorten(twins[0])}. Rename or remove one")


def unreadable(where: str, problem: str) -> SourceError:
    """Build the error of a file or row that cannot be read, and record it as a rejection."""
    record_row(where, reason=problem)
    return SourceError(f"{where}: {problem}")


Row = TypeVar("Row")


def records(
    entries: Iterable[LocatedEntry],
    row_type: type[Row],
    *,
    unique: Iterable[str] = (),
    closed: bool = False,
) -> Table[Row]:
    """Convert entries to rows, in order, with fields of the same names and exact types.

    A field with a default may be absent. A field ``where`` is not read; it receives the location of
    the entry, for later messages.

    Args:
        entries: Entries with their locations, from ``read_entries``.
        row_type: A dataclass.
        unique: Fields that must be unique together, such as those that identify a vote.
        closed: Whether unknown fields are refused, so that misspelt optional fields are noticed.

    Returns:
        The rows, and rejections of invalid and duplicate entries.

    Raises:
        TypeError: If a field has another type than str, bool, int, float, list, dict, or one of
            them or None; items of lists and objects are not checked.
    """
    hints = get_type_hints(row_type)
    known = [name for name in hints if name != "where"]

    def make(entry: Entry, where: str) -> Row:
        if closed:
            _refuse_unknown_fields(entry, known, where)
        return _make_row(entry, row_type, hints, where)

    return make_rows(entries, make, unique=unique)


def _refuse_unknown_fields(entry: Entry, known: Sequence[str], where: str) -> None:
    for name in entry:
        if name not in known:
            known_names = ", ".join(known)
            raise SourceError(f"{where}: unknown field {name!r} (known: {known_names})")


def _make_row(entry: Entry, row_type: type[Row], hints: Mapping[str, type[Any]], where: str) -> Row:
    values: dict[str, Any] = {"where": where} if "where" in hints else {}
    for field in fields(row_type):  # type: ignore[arg-type]
        is_required = field.default is MISSING and field.default_factory is MISSING
        if field.name not in values and (is_required or field.name in entry):
            values[field.name] = _field_value(entry, field.name, hints[field.name], where)
    return row_type(**values)


def _field_value(entry: Entry, name: str, hint: Any, where: str) -> Any:  # noqa: ANN401
    """Value of a field; null is allowed for optional fields, an integer for floats."""
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    value = entry.get(name)
    if value is None and name in entry and NoneType in kinds:
        return None
    if float in kinds and type(value) is int:
        with suppress(OverflowError):
            return float(value)
    if kinds[0] not in _TYPE_NAMES:
        supported = ", ".join(kind.__name__ for kind in _TYPE_NAMES)
        raise TypeError(f"field {name!r} cannot be read as {hint} (expected one of {supported})")
    return require_field(entry, name, kinds[0], where)


def make_rows(
    entries: Iterable[LocatedEntry],
    make: Callable[[Entry, str], Row],
    *,
    unique: Iterable[str] = (),
) -> Table[Row]:
    """Make a row of each entry; entries that fail are rejected.

    If several rows have the same values of the fields ``unique``, all but the first are rejected.
    """
    names, table = tuple(unique), Table[Row]()
    first_places: dict[tuple[object, ...], str] = {}
    for located in entries:
        where = located.where
        with table.rejecting(where):
            row = make(located.entry, where)
            key = tuple(getattr(row, name) for name in names)
            if names and key in first_places:
                fields_text = ", ".join(f"{name} {getattr(row, name)!r}" for name in names)
                raise SourceError(f"{where}: {fields_text} as in {first_places[key]}; keep one")
            first_places[key] = where
            table.rows.append(row)
    return table


def find_mistyped(record: "DataclassInstance") -> list[str]:
    """Find fields, and items of fields, with values of the wrong type.

    A list is accepted as a tuple, an int as a float, and any callable as a function.

    >>> from dataclasses import make_dataclass
    >>> find_mistyped(make_dataclass("Fridge", [("shelves", tuple[int, ...])])((1, "two")))
    ["shelves: item 'two': expected int"]
    """
    hints = _hints(type(record))
    return [
        error for name in hints for error in _type_errors(name, getattr(record, name), hints[name])
    ]


@cache
def _hints(kind: "type[DataclassInstance]") -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _type_errors(name: str, value: object, hint: Any) -> Iterator[str]:  # noqa: ANN401
    """Messages about a field, and the keys and items in it, that are not of its type."""
    if not _fits(value, hint):
        yield f"{name}: expected {_type_name(hint)}, it is of type {type(value).__name__}"
    elif get_origin(hint) is Mapping and isinstance(value, Mapping):
        yield from _mapping_type_errors(name, value, hint)
    elif get_origin(hint) is tuple and isinstance(value, tuple | list):
        item_hint, *_ = get_args(hint)
        for item in value:
            if not _fits(item, item_hint):
                yield f"{name}: item {item!r}: expected {_type_name(item_hint)}"


def _mapping_type_errors(name: str, mapping: Mapping[Any, Any], hint: Any) -> Iterator[str]:  # noqa: ANN401
    key_hint, item_hint = get_args(hint)
    for key in mapping:
        if not _fits(key, key_hint):
            yield f"{name}: key {key!r}: expected {_type_name(key_hint)}"
    singular = name.removesuffix("s")
    for key, item in mapping.items():
        if not _fits(item, item_hint):
            got = type(item).__name__
            yield f"{singular} {key!r}: expected {_type_name(item_hint)}, it is of type {got}"


def _fits(value: object, hint: Any) -> bool:  # noqa: ANN401
    """Whether a value has a type; its items are not checked."""
    kind = get_origin(hint) or hint
    if kind in (UnionType, Union):
        return any(_fits(value, member) for member in get_args(hint))
    if kind is Literal:
        return any(value == member for member in get_args(hint))
    if kind is Callable:
        return callable(value)
    if kind is float:
        return isinstance(value, int | float)
    if kind is tuple:
        return isinstance(value, tuple | list)
    return kind is Any or isinstance(value, kind)


def _type_name(hint: Any) -> str:  # noqa: ANN401
    """Name of a type for messages: "int or None", "'a' or 'b'", "a function"."""
    kind = get_origin(hint) or hint
    if kind in (UnionType, Union):
        return " or ".join(map(_type_name, get_args(hint)))
    if kind is Literal:
        return " or ".join(map(repr, get_args(hint)))
    if kind is Callable:
        return "a function"
    type_names = {tuple: "a tuple", type: "a class", Mapping: "a mapping"}
    return type_names.get(kind, str(kind.__name__))
