"""Rows of questions out of one file: JSON lines, JSON, CSV, TSV, Parquet or Arrow."""

import csv
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import Entry, parse_json, read_entries

_BATCH = 16  # rows in memory at once; one may hold several photographs
_MOST = 1024  # of rows that hold none
_BYTES = 1 << 20  # that as many rows may take, as long as the file says how long they are
_WHOLE = b"ARROW1"  # what a file of Arrow's begins with; a stream does not


class Row(NamedTuple):
    """One row of a file; ``fault`` says why it has no cells."""

    where: str  # file and line, as a person would look for it
    cells: Entry
    fault: str = ""


def _json_lines(file: Path) -> Iterator[Row]:
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _json_line(line, f"{file}, line {number}")
    except OSError as why:
        raise SourceError(f"{file}: cannot be read: {why.strerror}") from why


def _json_line(line: bytes, where: str) -> Row:
    try:
        entry = parse_json(line.decode("utf-8-sig"))
    except SourceError as why:
        return Row(where, {}, str(why))
    except (ValueError, RecursionError) as why:
        return Row(where, {}, f"not JSON, or cut short: {why}")
    return Row(where, entry) if isinstance(entry, dict) else Row(where, {}, "not a JSON object")


def _json_list(file: Path) -> Iterator[Row]:
    for entry, where in read_entries(file):
        yield Row(where, entry)


def _separated(file: Path, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # a cell may be a picture
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, delimiter=delimiter)
            _refuse_twins(reader.fieldnames or (), file)
            for cells in reader:
                where = f"{file}, line {reader.line_num}"
                surplus = cells.pop(None, None)
                fault = f"{len(surplus)} cells more than the header names" if surplus else ""
                yield Row(where, {name: cell or None for name, cell in cells.items()}, fault)
    except (OSError, UnicodeDecodeError, csv.Error) as why:
        raise SourceError(f"{file}: cannot be read as a table in UTF-8: {why}") from why


def _parquet(file: Path) -> Iterator[Row]:
    try:
        with pq.ParquetFile(file) as table:
            about = table.metadata
            taken = sum(about.row_group(n).total_byte_size for n in range(about.num_row_groups))
            batches = table.iter_batches(batch_size=_at_once(taken, about.num_rows))
            yield from _rows(batches, table.schema_arrow, file)
    except (OSError, ValueError, pa.ArrowException) as why:  # ValueError: names that are no text
        raise SourceError(f"{file}: cannot be read as Parquet, or is cut short: {why}") from why


def _arrow(file: Path) -> Iterator[Row]:
    try:
        with pa.memory_map(str(file)) as data:
            whole = data.read(len(_WHOLE)) == _WHOLE
            data.seek(0)
            if whole:
                table = pa.ipc.open_file(data)
                batches = map(table.get_batch, range(table.num_record_batches))
                yield from _rows(batches, table.schema, file)
            else:
                stream = pa.ipc.open_stream(data)
                yield from _rows(stream, stream.schema, file)
    except (OSError, ValueError, pa.ArrowException) as why:
        raise SourceError(f"{file}: cannot be read as Arrow, or is cut short: {why}") from why


def _rows(batches: Iterator[pa.RecordBatch], schema: pa.Schema, file: Path) -> Iterator[Row]:
    _refuse_twins(schema.names, file)
    classes = _class_names(schema)
    number = 0
    for batch in batches:
        batch.validate(full=True)  # else lengths that are not true crash the process
        step = _at_once(batch.nbytes, batch.num_rows)
        for start in range(0, batch.num_rows, step):
            for entry in _entries(batch.slice(start, step)):
                number += 1
                where = f"{file}, row {number}"
                if isinstance(entry, str):
                    yield Row(where, {}, entry)
                else:
                    yield Row(where, _named(entry, classes))


def _refuse_twins(names: Iterable[str], file: Path) -> None:
    """Refuse a table with two columns of a name: which of them counts, nobody knows."""
    if twins := [name for name, n in Counter(names).items() if name and n > 1]:
        raise SourceError(f"{file}: has the column {twins[0]!r:.60} twice")


def _at_once(n_bytes: int, n_rows: int) -> int:
    """How many rows are made at once, of so many that take so many bytes."""
    return max(_BATCH, min(_MOST, _BYTES * n_rows // max(n_bytes, 1)))


def _entries(rows: pa.RecordBatch) -> list[Entry | str]:
    """The rows as Python has them; why a row cannot be, such as one with a day too late."""
    try:
        return list(rows.to_pylist())
    except (ValueError, OverflowError) as why:
        if rows.num_rows == 1:
            return [f"cannot be read: {why}"]
        return [entry for at in range(rows.num_rows) for entry in _entries(rows.slice(at, 1))]


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """What ``datasets`` says the numbers of a column stand for, where it does."""
    try:
        about = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
    except (ValueError, RecursionError):
        return {}  # the rows can be read without
    for part in ("info", "features"):
        about = about.get(part) if isinstance(about, dict) else None
    return {
        name: one["names"]
        for name, one in (about if isinstance(about, dict) else {}).items()
        if isinstance(one, dict) and one.get("_type") == "ClassLabel"
        if isinstance(one.get("names"), list)
    }


def _named(entry: Entry, classes: Mapping[str, list[str]]) -> Entry:
    named = {
        name: names[number]
        for name, names in classes.items()
        if isinstance(number := entry.get(name), int) and 0 <= number < len(names)
    }
    return entry | named


READERS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    ".jsonl": _json_lines,
    ".json": _json_list,
    ".csv": lambda file: _separated(file, ","),
    ".tsv": lambda file: _separated(file, "\t"),
    ".parquet": _parquet,
    ".arrow": _arrow,
}
"""Suffix -> what reads such a file, row after row."""
