"""Reads JSON that others wrote: every complaint names the file and the entry."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from bench_assets.core.errors import SourceError

Entry: TypeAlias = dict[str, Any]
Value = TypeVar("Value")

_BETWEEN = re.compile(r"[\s,]*")  # entries of a list
_HALF = re.compile("[\ud800-\udfff]")  # of a character
_KINDS: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


def read_entries(file: Path) -> Iterator[tuple[Entry, str]]:
    """Read a JSON list of objects; with each comes where it stands, for complaints.

    Raises:
        SourceError: If the file cannot be read, is not JSON, is not a list of objects, or an object
            tells a field twice.
    """
    entries = _parsed(_text(file), str(file))
    if not isinstance(entries, list):
        raise SourceError(f"{file}: expected a list of entries at the top, found {_shown(entries)}")
    for number, entry in enumerate(entries, 1):
        named = f" (id {_shown(entry['id'])})" if isinstance(entry, dict) and "id" in entry else ""
        where = f"{file}, entry {number}{named}"
        yield _object(entry, where), where


def read_lines(file: Path) -> Iterator[tuple[Entry, str]]:
    """Read JSON lines, blank ones left out; with each comes where it stands, for complaints.

    Raises:
        SourceError: If the file cannot be read, or a line is not a JSON object, or tells a field
            twice.
    """
    for number, line in enumerate(_text(file).split("\n"), 1):
        if line.strip():
            where = f"{file}, line {number}"
            yield _object(_parsed(line, where), where), where


def parse_json(text: str) -> object:
    """Parse JSON in which no object tells a field twice: all but the last would be lost.

    >>> parse_json('{"answer": "A", "answers": ["A", "B"]}')
    {'answer': 'A', 'answers': ['A', 'B']}

    Raises:
        SourceError: If one does; names the field, not the place.
        ValueError: If it is not JSON.
        RecursionError: If it is nested too deeply.
    """
    value: object = _DECODER.decode(text)
    return value


def field(entry: Entry, name: str, kind: type[Value], where: str) -> Value:
    """Take a field of an entry, of exactly this type.

    Raises:
        SourceError: If it is missing, of another type, or a text with half a character in it.

    >>> field({"id": "017"}, "id", str, where="data.json, entry 18")
    '017'
    """
    if name not in entry:
        raise SourceError(f"{where}: no field {name!r}; it has: {', '.join(entry) or 'none'}")
    value = entry[name]
    if type(value) is not kind:
        raise SourceError(f"{where}: field {name!r} is {_shown(value)}, expected {_KINDS[kind]}")
    if isinstance(value, str) and not value.isascii() and _HALF.search(value):
        raise SourceError(f"{where}: field {name!r} holds a lone half of a character: {value!a}")
    return value


def _object(value: object, where: str) -> Entry:
    if not isinstance(value, dict):
        raise SourceError(f"{where}: expected an object, found {_shown(value)}")
    return value


def _shown(value: object) -> str:
    return f"{value!r:.60}"


def _told_once(pairs: list[tuple[str, Any]]) -> Entry:
    entry = dict(pairs)
    if len(entry) < len(pairs):
        told = Counter(name for name, _ in pairs)
        raise SourceError(f"field {_shown(told.most_common(1)[0][0])} is told twice; keep one")
    return entry


_DECODER = json.JSONDecoder(object_pairs_hook=_told_once)  # one for all lines: that saves a third


def _parsed(text: str, where: str) -> object:
    try:
        value = parse_json(text)
    except SourceError as why:
        raise SourceError(f"{where}{_entry_with_twins(text)}: {why}") from why
    except ValueError as why:  # a JSONDecodeError, or a number of thousands of digits
        raise SourceError(f"{where}: not JSON, or cut short: {why}") from why
    except RecursionError as why:
        raise SourceError(f"{where}: lists and objects are nested too deeply to be read") from why
    return value


def _entry_with_twins(text: str) -> str:
    """Which entry of a list is the first that cannot be had, as a part of where it stands."""
    if not text.lstrip().startswith("["):
        return ""
    at, number = text.index("["), 0
    with suppress(SourceError):
        while True:
            number += 1
            at = next(_BETWEEN.finditer(text, at + 1)).end()
            _, at = _DECODER.raw_decode(text, at)
    return f", entry {number}"


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as why:
        raise SourceError(f"{file}: cannot be read: {why.strerror}") from why
    except UnicodeDecodeError as why:
        raise SourceError(f"{file}: not UTF-8 text: {why}") from why
