import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from tests.faults.homes import KEY
from tests.faults.table import FindingError

_N_RECOGNIZABLE = 14
"""Characters of a key that identify it: a key that is cut behind them was not redacted either."""


def search(home: Path, *outputs: str) -> None:
    """Look for the key in every file below a folder, and in outputs of commands.

    Raises:
        FindingError: If the key, or its beginning, is somewhere.
    """
    beginnings = [form[:_N_RECOGNIZABLE].encode() for form in (KEY, quote(KEY))]
    for name, data in _contents(home, outputs):
        for beginning in beginnings:
            start = data.find(beginning)
            if start >= 0:
                context = data[max(0, start - 40) : start + 40].decode("utf-8", "replace")
                raise FindingError(f"the key is in {name}: …{context}…")


def _contents(home: Path, outputs: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """The name and the bytes of every output and file; of tables also the unpacked rows."""
    for index, output in enumerate(outputs):
        yield f"output {index}", output.encode()
    for file in sorted(home.rglob("*")):
        if not file.is_file():
            continue
        name = file.relative_to(home).as_posix()
        yield name, file.read_bytes()
        if file.suffix == ".parquet":
            yield name, _table_contents(file)
        elif file.suffix in (".sqlite", ".db"):
            yield name, _database_contents(file)


def _table_contents(file: Path) -> bytes:
    try:
        return repr(pq.ParquetFile(file).read().to_pylist()).encode()
    except (pa.ArrowException, OSError):
        return b""


def _database_contents(file: Path) -> bytes:
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True)) as db:
            return "\n".join(db.iterdump()).encode("utf-8", "replace")
    except (sqlite3.Error, ValueError):
        return b""
