"""Searches a whole home folder for a key: every file's bytes, and what is in tables packed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from tests.faults.homes import KEY
from tests.faults.table import FoundError

_BEGINNING = 14
"""Characters of a key that tell it: one that is cut behind them was not redacted either."""


def search(home: Path, *texts: str) -> None:
    """Look for the key in every file below a folder, and in what was said.

    Raises:
        FoundError: If it is there, or most of it; says where.
    """
    signs = [form[:_BEGINNING].encode() for form in _forms()]
    for where, data in _everything(home, texts):
        for sign in signs:
            if sign in data:
                at = data.index(sign)
                around = data[max(0, at - 40) : at + 40].decode("utf-8", "replace")
                raise FoundError(f"the key is in {where}: …{around}…")


def _forms() -> list[str]:
    return [KEY, quote(KEY)]


def _everything(home: Path, texts: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    yield from ((f"what was said ({number})", text.encode()) for number, text in enumerate(texts))
    for file in sorted(home.rglob("*")):
        if not file.is_file():
            continue
        where = file.relative_to(home).as_posix()
        yield where, file.read_bytes()
        if file.suffix == ".parquet":
            yield where, _of_table(file)
        elif file.suffix in (".sqlite", ".db"):
            yield where, _of_database(file)


def _of_table(file: Path) -> bytes:
    try:
        return repr(pq.ParquetFile(file).read().to_pylist()).encode()
    except (pa.ArrowException, OSError):
        return b""


def _of_database(file: Path) -> bytes:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)) as db:
            return "\n".join(db.iterdump()).encode("utf-8", "replace")
    except (sqlite3.Error, ValueError):
        return b""
