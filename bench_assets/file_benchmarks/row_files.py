"""Readers of question files: JSON lines, JSON, CSV, TSV, Parquet, Arrow.

A folder has the layout of ``datasets``' ``save_to_disk``, or files for ``load_dataset``, with
splits named by folder and file (``data/test-00000-of-00002.parquet``), or of an ImageFolder
(``test/metadata.jsonl``).
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import (
    Entry,
    make_rows,
    parse_json,
    read_entries,
    read_object,
    read_text,
    refuse_duplicate_columns,
    refuse_pointer,
)

_MIN_BATCH_ROWS = 16  # rows in memory at once, at least; one may hold several photographs
_MAX_BATCH_ROWS = 1024  # rows in memory at once, at most
_BATCH_BYTES = 1 << 20  # bytes of a batch of rows
_MAX_CELL = 2**31 - 1  # characters of a cell; the most that csv takes on every platform
_NOT_JSON = "not JSON, or cut short"
_END_SENTINEL = "\0end of the table"
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_FETCH_AGAIN = "Download the file again, or remove the line."
_ARROW_MAGIC = b"ARROW1"  # first bytes of an Arrow file, but not of an Arrow stream


class Row(NamedTuple):
    """A row of a file; ``fault`` is the reason why it has no cells."""

    where: str  # file and line, for messages
    cells: Entry
    fault: str = ""
    part: int = 0  # number of the question in a row of several, from 1


def _read_json_lines(file: Path) -> Iterator[Row]:
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    row = _parse_json_line(line, f"{file}, line {number}")
                    if row.fault.startswith(_NOT_JSON) and not line.endswith(b"\n"):
                        raise SourceError(f"{row.where}, the last: {row.fault}. {_FETCH_AGAIN}")
                    yield row
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror}") from error


def _parse_json_line(line: bytes, where: str) -> Row:
    try:
        cells = parse_json(line.decode("utf-8-sig"))
    except SourceError as error:
        return Row(where, cells={}, fault=str(error))
    except (ValueError, RecursionError) as error:
        return Row(where, cells={}, fault=f"{_NOT_JSON}: {error}")
    if isinstance(cells, dict):
        return Row(where, cells)
    return Row(where, cells={}, fault=f"not a JSON object: {cells!r:.120}")


def _read_json(file: Path) -> Iterator[Row]:
    """Rows of a list, of an object with one list, of objects or answers by id, or of JSON lines."""
    text = read_text(file)
    if not text.lstrip().startswith("{"):
        yield from _read_json_list(file)
    elif _is_json_object(text.lstrip().partition("\n")[0]) and text.strip().count("\n"):
        yield from _read_json_lines(file)
    else:
        yield from _object_rows(read_object(file), file)


def _is_json_object(text: str) -> bool:
    try:
        return isinstance(parse_json(text), dict)
    except SourceError:  # an object with a duplicate field
        return True
    except (ValueError, RecursionError):
        return False


def _read_json_list(file: Path) -> Iterator[Row]:
    table = make_rows(read_entries(file), lambda entry, where: Row(where, entry))
    yield from table.rows
    for rejection in table.rejections:
        yield Row(str(file.with_name(rejection.entry)), cells={}, fault=rejection.reason)


def _object_rows(content: Entry, file: Path) -> Iterator[Row]:
    """Rows of an object: entries of its one long list, or its values, with keys as default ids.

    Values are answers if none of them is an object or a list of objects.
    """
    if not content:
        raise SourceError(f"{file}: expected a list of rows, or an object of rows by id")
    lists = [name for name, value in content.items() if _is_list_of_objects(value)]
    n_objects = sum(isinstance(value, dict) for value in content.values())
    has_list = len(lists) == 1 and len(content[lists[0]]) > n_objects  # others: "info", "license"
    if has_list:
        (name,) = lists
        content = {f"{name}, entry {n}": value for n, value in enumerate(content[name], 1)}
    for name, value in content.items():
        where = f"{file}, {name}"
        if isinstance(value, dict):
            yield Row(where, value if has_list else {"id": name, **value})
        elif n_objects or lists:
            yield Row(where, cells={}, fault=f"expected an object, found {value!r:.60}")
        else:
            yield Row(where, {"id": name, "answer": value})


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and any(isinstance(row, dict) for row in value)


def _read_delimited(file: Path, delimiter: str, names: Sequence[str]) -> Iterator[Row]:
    """Rows of a table; ``names`` are the columns of one without a header, else ()."""
    csv.field_size_limit(_MAX_CELL)  # a cell may be an image
    try:
        with file.open(encoding="utf-8-sig", newline="", errors="surrogateescape") as stream:
            lines = _TableLines(stream)
            reader = csv.reader(lines, delimiter=delimiter)
            header = list(names) or next(reader, [])
            if fault := _table_fault(header, header):
                raise SourceError(f"{file}, line 1: {fault}. Save the table as UTF-8")
            refuse_duplicate_columns(header, file)
            line = reader.line_num + 1
            for cells in reader:
                where = f"{file}, line {line}"
                line = reader.line_num + 1  # of the next row; a cell may span lines
                if cells == [_END_SENTINEL]:
                    return
                if not cells:  # a blank line
                    continue
                fault = _table_fault(cells, header)
                is_cut_short = len(cells) < len(header) and not lines.is_ended
                if is_cut_short or cells[-1].endswith(_END_SENTINEL):
                    raise SourceError(
                        f"{where}, the last: the row is cut short, or a quotation in it has no end."
                        f" {_FETCH_AGAIN}"
                    )
                pairs = () if fault else zip(header, cells, strict=True)
                yield Row(where, cells={name: cell or None for name, cell in pairs}, fault=fault)
    except (OSError, csv.Error) as error:
        raise SourceError(f"{file}: cannot be read as a table in UTF-8: {error}") from error


class _TableLines:
    """The lines of a table and a sentinel, which becomes part of an unclosed quotation."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.is_ended = True  # whether the line that was read last has a line ending

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.is_ended = line.endswith(("\n", "\r"))
            yield line
        yield _END_SENTINEL


def _table_fault(cells: Sequence[str], header: Sequence[str]) -> str:
    if len(cells) != len(header):
        return f"{len(cells)} cells, expected {len(header)} as in the header"
    broken_cells = [cell for cell in cells if _NOT_UTF8.search(cell)]
    return f"not UTF-8: {broken_cells[0]!a:.60}" if broken_cells else ""


def _read_parquet(file: Path) -> Iterator[Row]:
    try:
        with pq.ParquetFile(file) as table:
            metadata = table.metadata
            n_bytes = sum(
                metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups)
            )
            batches = table.iter_batches(batch_size=_n_batch_rows(n_bytes, metadata.num_rows))
            yield from _batch_rows(batches, table.schema_arrow, file)
    # ValueError: a column name is not text.
    except (OSError, ValueError, pa.ArrowException) as error:
        raise SourceError(f"{file}: cannot be read as Parquet, or is cut short: {error}") from error


def _read_arrow(file: Path) -> Iterator[Row]:
    try:
        with pa.memory_map(str(file)) as data:
            is_file_format = data.read(len(_ARROW_MAGIC)) == _ARROW_MAGIC
            data.seek(0)
            if is_file_format:
                table = pa.ipc.open_file(data)
                batches = map(table.get_batch, range(table.num_record_batches))
                yield from _batch_rows(batches, table.schema, file)
            else:
                stream = pa.ipc.open_stream(data)
                yield from _batch_rows(stream, stream.schema, file)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise SourceError(f"{file}: cannot be read as Arrow, or is cut short: {error}") from error


def _batch_rows(batches: Iterator[pa.RecordBatch], schema: pa.Schema, file: Path) -> Iterator[Row]:
    refuse_duplicate_columns(schema.names, file)
    classes = _class_names(schema)
    entries = chain.from_iterable(map(_batch_entries, batches))
    for number, entry in enumerate(entries, 1):
        where = f"{file}, row {number}"
        if isinstance(entry, str):
            yield Row(where, cells={}, fault=entry)
        else:
            yield Row(where, _name_classes(entry, classes))


def _batch_entries(batch: pa.RecordBatch) -> Iterator[Entry | str]:
    """Yield the rows of a batch as Python values, converting few at once."""
    batch.validate(full=True)  # otherwise wrong lengths crash the process
    step = _n_batch_rows(batch.nbytes, batch.num_rows)
    for start in range(0, batch.num_rows, step):
        yield from _to_entries(batch.slice(start, step))


def _n_batch_rows(n_bytes: int, n_rows: int) -> int:
    """Rows per batch, from the size of all rows."""
    return max(_MIN_BATCH_ROWS, min(_MAX_BATCH_ROWS, _BATCH_BYTES * n_rows // max(n_bytes, 1)))


def _to_entries(rows: pa.RecordBatch) -> list[Entry | str]:
    """Convert rows to Python values; a row that cannot be converted becomes the reason."""
    try:
        return list(rows.to_pylist())
    except (ValueError, OverflowError) as error:
        if rows.num_rows == 1:
            return [f"cannot be read: {error}"]
        single_rows = (rows.slice(row_index, 1) for row_index in range(rows.num_rows))
        return [entry for row in single_rows for entry in _to_entries(row)]


def _class_names(schema: pa.Schema) -> dict[str, list[str]]:
    """Class names of a column with ``datasets``' ClassLabel type, from its metadata."""
    try:
        metadata = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
    except (ValueError, RecursionError):
        return {}  # the rows are readable without
    for key in ("info", "features"):
        metadata = metadata.get(key) if isinstance(metadata, dict) else None
    class_names: dict[str, list[str]] = {}
    for column, feature in (metadata if isinstance(metadata, dict) else {}).items():
        is_label = isinstance(feature, dict) and feature.get("_type") == "ClassLabel"
        if is_label and isinstance(feature.get("names"), list):
            class_names[column] = feature["names"]
    return class_names


def _name_classes(entry: Entry, classes: Mapping[str, list[str]]) -> Entry:
    """Replace the numbers of classes by their names."""
    named = dict(entry)
    for column, class_names in classes.items():
        number = entry.get(column)
        if isinstance(number, int) and 0 <= number < len(class_names):
            named[column] = class_names[number]
    return named


DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""Delimiters of tables, by suffix."""
_READERS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    ".jsonl": _read_json_lines,
    ".json": _read_json,
    ".parquet": _read_parquet,
    ".arrow": _read_arrow,
}
_SUFFIXES = (*_READERS, *DELIMITERS)
_FOLDER_SUFFIXES = tuple(suffix for suffix in _SUFFIXES if suffix != ".json")
"""Suffixes of question files in folders, where JSON files are mostly metadata."""
_METADATA = "metadata"  # file of an ImageFolder that describes the images beside it
_SHARD = re.compile(r"(?:^|-)\d+(?:-of-\d+(?:-[0-9a-f]{16})?)?$")


def read_rows(path: Path, split: str = "", header: Sequence[str] = ()) -> Iterator[Row]:
    """Read all rows, in the order of the files.

    Args:
        path: A file or folder; of a folder, the files that ``data_files`` finds.
        split: Split of a folder.
        header: Column names of CSV and TSV files whose first line is a row already.

    Raises:
        SourceError: As ``data_files``, or if a file cannot be read.
    """
    for file in data_files(path, split):
        refuse_pointer(file)
        suffix = file.suffix.lower()
        if suffix in DELIMITERS:
            rows = _read_delimited(file, DELIMITERS[suffix], header)
        else:
            rows = _READERS[suffix](file)
        if path.is_dir() and file.stem == _METADATA:
            rows = (_name_images(row, file.parent.relative_to(path)) for row in rows)
        yield from rows


def _name_images(row: Row, folder: Path) -> Row:
    """Rename the columns of an ImageFolder's images, and add the folder to their paths.

    ``file_name`` becomes ``image``, ``question_file_name`` ``question``, and ``pages_file_names``,
    a list, ``pages``.
    """
    cells: Entry = {}
    for name, cell in row.cells.items():
        if name == "file_name" or name.endswith(("_file_name", "_file_names")):
            column = name.removesuffix("s").removesuffix("file_name").rstrip("_") or "image"
            paths = cell if isinstance(cell, list) else [cell]
            files = [str(folder / path) if isinstance(path, str) else path for path in paths]
            cells[column] = files if isinstance(cell, list) else files[0]
        else:
            cells[name] = cell
    return row._replace(cells=cells)


def data_files(path: Path, split: str = "") -> list[Path]:
    """List the files that hold the rows.

    Args:
        path: A file, or a folder with a layout that this module reads.
        split: Split of the folder; "" if there is only one; ``"*/test"``: all that match.

    Raises:
        SourceError: If the file has another format, or the folder has no files, no such split, or
            several splits of which none is named.
    """
    if not path.is_dir():
        if path.suffix.lower() not in _SUFFIXES:
            raise SourceError(
                f"{path}: not one of {', '.join(_SUFFIXES)}, and not a folder. If it holds JSON"
                " lines, end its name in .jsonl"
            )
        return [path]
    splits = _saved_splits(path) or _files_by_split(path)
    if not splits:
        raise SourceError(f"{path}: holds no {', '.join(_FOLDER_SUFFIXES)} file")
    matching = [name for name in splits if fnmatchcase(name, split)] if "*" in split else []
    if matching:
        return [file for name in matching for file in splits[name]]
    names = [name for name in splits if not split or split in (name, name.rpartition("/")[2])]
    if len(names) == 1:
        return splits[names[0]]
    count = "several" if names else "none"
    problem = f"{split!r} is {count}" if split else "name one"
    raise SourceError(f"{path}: has the splits {', '.join(splits)}; {problem} of them (split)")


def _saved_splits(folder: Path) -> dict[str, list[Path]]:
    """Splits of a folder written by ``save_to_disk``: one dataset, or several by name."""
    if (folder / "dataset_dict.json").is_file():
        names = _read_list_field(folder / "dataset_dict.json", "splits")
        return {str(name): _saved_files(folder / str(name)) for name in names}
    return {"all": _saved_files(folder)} if (folder / "state.json").is_file() else {}


def _saved_files(folder: Path) -> list[Path]:
    """Files of one split, as ``save_to_disk`` lists them."""
    state = read_object(folder / "state.json")
    if state.get("_indices_data_files"):
        raise SourceError(
            f"{folder}: the dataset is a selection of rows. Save it after flatten_indices()"
        )
    entries = _read_list_field(folder / "state.json", "_data_files")
    files = [entry.get("filename") if isinstance(entry, dict) else None for entry in entries]
    if invalid := [file for file in files if not _is_file_name(file)]:
        raise SourceError(f"{folder / 'state.json'}: _data_files: not a file: {invalid[0]!r:.60}")
    return [folder / str(file) for file in files]


def _is_file_name(value: object) -> bool:
    """Whether a value names a file of a readable format in the same folder."""
    if not isinstance(value, str) or "\0" in value or Path(value).name != value:
        return False
    return Path(value).suffix.lower() in _SUFFIXES


def _read_list_field(file: Path, field: str) -> list[object]:
    values = read_object(file).get(field, [])
    if not isinstance(values, list):
        raise SourceError(f"{file}: {field} is {values!r:.60}, expected a list")
    return values


def _files_by_split(folder: Path) -> dict[str, list[Path]]:
    """Question files by split: the names of its folders, except "data", and of its file."""
    splits: dict[str, list[Path]] = {}
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in path.parts)
        if is_hidden or file.suffix.lower() not in _FOLDER_SUFFIXES:
            continue
        names = [part for part in path.parent.parts if part != "data"]
        if file.stem != _METADATA:
            names.append(_SHARD.sub("", file.stem))
        splits.setdefault("/".join(filter(None, names)), []).append(file)
    return splits
