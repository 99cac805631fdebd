"""Opens the JSON files of a release: objects under their ids, the hub's lists, lists of ids."""

from collections.abc import Iterator
from pathlib import Path

from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import Entry, field, parse_json


def read_keyed(file: Path, id_field: str) -> Iterator[tuple[str, Entry, str]]:
    """Read objects under their ids, or a list of objects that hold their id (the hub's variant).

    Yields:
        Id, object, and where it stands, for complaints.

    Raises:
        SourceError: If the file is neither, or an id stands there twice.
    """
    value = _parsed(file)
    if not isinstance(value, list | dict):
        raise SourceError(f"{file}: expected an object or a list of entries, found {value!r:.60}")
    listed = value.items() if isinstance(value, dict) else enumerate(value, 1)
    seen: set[str] = set()
    for place, entry in listed:
        where = f"{file}, entry {place}"
        if not isinstance(entry, dict):
            raise SourceError(f"{where}: expected an object, found {entry!r:.60}")
        name = place if isinstance(place, str) else field(entry, id_field, str, where)
        if name in seen:
            raise SourceError(f"{where}: the id {name!r} stands there twice; keep one of them")
        seen.add(name)
        yield name, entry, where


def read_list(file: Path) -> list[str]:
    """Read a JSON list of texts.

    Raises:
        SourceError: If it is anything else.
    """
    value = _parsed(file)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise SourceError(f"{file}: expected a list of texts, found {value!r:.60}")
    return value


def _parsed(file: Path) -> object:
    try:
        return parse_json(file.read_text("utf-8"))
    except SourceError as why:
        raise SourceError(f"{file}: {why}") from why
    except OSError as why:
        raise SourceError(f"{file}: cannot be read: {why.strerror}") from why
    except UnicodeDecodeError as why:
        raise SourceError(f"{file}: not UTF-8 text: {why}") from why
    except (ValueError, RecursionError) as why:
        raise SourceError(f"{file}: not JSON, or cut short: {why}") from why
