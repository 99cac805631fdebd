"""Reads the published files of JourneyBench, in any of their formats.

The authors published the same tables several times: as JSON lines in the history of the project
site, as CSV on the hub, as JSON lists on the site. A folder may hold any of them under these names:

* captioning: ``unusual_image_caption_generation``, ``caption`` or ``captioning``;
* retrieval: ``i2t_positive``, ``i2t_negative`` and ``t2i``, or all in one as ``retrieval``;
* chain of thought: ``mcot``; several images: ``multi_image_vqa`` or ``multiimage_vqa``;
* hallucination: ``haloquest-eval`` (github.com/google/haloquest);

each ending in ``.jsonl``, ``.csv`` or ``.json``; images may be in ``images/``. A folder without any
of them holds the raw material of an edition to be built.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

from bench_assets.core.answer_types.options import parse_list
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import (
    Entry,
    LocatedEntry,
    make_rows,
    read_entries,
    read_lines,
    refuse_duplicate_columns,
    require_field,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = TypeVar("Row", bound="DataclassInstance")

PUBLISHED = {
    "captioning": ("unusual_image_caption_generation", "caption", "captioning"),
    "text_positives": ("i2t_positive",),
    "text_negatives": ("i2t_negative",),
    "image_distractors": ("t2i",),
    "retrieval": ("retrieval",),
    "mcot": ("mcot",),
    "multi_image_vqa": ("multi_image_vqa", "multiimage_vqa"),
    "hallucination_vqa": ("haloquest-eval",),
}
CAUSE_ANSWERS = ("image1", "image2")
"""Answers to a question of cause and effect, in the order of the images."""

_ENDINGS = (".jsonl", ".csv", ".json")
_ADDRESS_FIELDS = ("url", "url1", "url2", "distractor_url", "image_distractor_url")


def published_files(folder: Path, *tables: str) -> dict[str, Path]:
    """Find the published files of some tables, or of all if none is given; by table.

    Raises:
        SourceError: If two files hold the same table.
    """
    files: dict[str, Path] = {}
    for table in tables or PUBLISHED:
        candidates = [folder / f"{name}{end}" for name in PUBLISHED[table] for end in _ENDINGS]
        existing = [file for file in candidates if file.is_file()]
        if len(existing) > 1:
            names = " and ".join(file.name for file in existing)
            raise SourceError(f"{folder}: {names} hold the same table. Remove one of them")
        if existing:
            files[table] = existing[0]
    return files


def require_source(folder: Path) -> None:
    """Refuse a folder with neither published files nor raw material.

    Raises:
        SourceError: If the folder has neither, or two files hold the same table.
    """
    if not published_files(folder) and not any(folder.glob("*.jsonl")):
        raise SourceError(
            f"{folder}: no JourneyBench data (expected published files, such as mcot.jsonl or "
            "haloquest-eval.csv, or raw material in .jsonl files). Name the folder of the data"
        )


def read_records(file: Path) -> Iterator[LocatedEntry]:
    """Read a published table of JSON lines, a JSON list or CSV.

    Raises:
        SourceError: If the file cannot be read; names the file.
    """
    readers = {".csv": _read_csv, ".jsonl": read_lines, ".json": read_entries}
    return readers[file.suffix](file)


def read_optional_lines(file: Path) -> Iterator[LocatedEntry]:
    """Read JSON lines of raw material, as ``read_lines``; none if the file does not exist."""
    return read_lines(file) if file.exists() else iter(())


def read_text_field(entry: Entry, name: str, where: str) -> str:
    """Read a text field, stripped; "" if it is missing or null.

    Raises:
        SourceError: If the field is not a text, or has a lone surrogate.
    """
    return "" if entry.get(name) is None else require_field(entry, name, str, where).strip()


def read_texts(entry: Entry, name: str, where: str) -> list[str]:
    """List the non-blank texts of a field, which holds one text or a list.

    In CSV a list is one cell, written as in Python or JSON.

    Raises:
        SourceError: If a text has a lone surrogate.

    >>> read_texts({"url": "['https://a', 'https://b']"}, "url", where="t2i.csv, line 2")
    ['https://a', 'https://b']
    """
    values = [value for value in _list_values(entry.get(name)) if isinstance(value, str)]
    texts = [require_field({name: value}, name, str, where).strip() for value in values]
    return [text for text in texts if text]


def image_addresses(files: Iterable[Path]) -> list[str]:
    """List the addresses of all images in the files, without duplicates, in order."""
    addresses: list[str] = []
    for file in files:
        for row_addresses in make_rows(read_records(file), _row_addresses).rows:
            addresses += row_addresses
    return list(dict.fromkeys(addresses))


def _row_addresses(entry: Entry, where: str) -> list[str]:
    return [text for field in _ADDRESS_FIELDS for text in read_texts(entry, field, where)]


class AddressMatches(NamedTuple):
    """Matches of files in ``images/`` with addresses, and the ambiguous files."""

    file_of: dict[str, str]  # address -> path in images/
    ambiguous: dict[str, list[str]]  # path in images/ -> the addresses that it matches


def match_addresses(paths: Iterable[str], addresses: Iterable[str]) -> AddressMatches:
    """Match files with addresses: a file matches if its path is the end of the address.

    Many addresses end alike: all of Midjourney's images are called ``0_0.png``. A file that matches
    several addresses is used for none of them; it needs a longer path, up to
    ``host/path/0_0.png``, where ``wget -x`` puts it.

    >>> match_addresses(["a/0.png", "1.png"], ["https://h/a/0.png", "https://h/b/0.png"]).file_of
    {'https://h/a/0.png': 'a/0.png'}
    """
    existing_paths = set(paths)
    longest_match: dict[str, str] = {}
    addresses_of: dict[str, list[str]] = defaultdict(list)
    for address in dict.fromkeys(addresses):
        matching = [path for path in _path_suffixes(address) if path in existing_paths]
        if matching:
            longest_match[address] = matching[0]
        for path in matching:
            addresses_of[path].append(address)
    ambiguous = {
        path: matched
        for path, matched in addresses_of.items()
        if len({unquote(address) for address in matched}) > 1  # not two spellings of one
    }
    file_of = {address: path for address, path in longest_match.items() if path not in ambiguous}
    return AddressMatches(file_of, ambiguous)


def name_of(address: str) -> str:
    """Name an image by its address without ``https://``.

    The file name alone is not unique, and numbering it would depend on the other rows.

    >>> name_of("https://host/a/0_0.png?x=1")
    'host/a/0_0.png?x=1'
    """
    return address.removeprefix("https://")


def problem_id(question: str) -> str:
    """Name a problem by its text, since GSM8K has no ids."""
    return f"gsm8k-{sha256(question.encode()).hexdigest()[:8]}"


def number_repeated(table: Table[Row], id_field: str) -> Table[Row]:
    """Number the repeated ids of rows, "a", "a/2" and so on, without ids that the table has.

    The first row with an id keeps it.
    """
    ids = {getattr(row, id_field) for row in table.rows}
    numbers = Counter[str]()
    rows = []
    for row in table.rows:
        row_id = getattr(row, id_field)
        numbers[row_id] += 1
        if numbers[row_id] == 1:
            rows.append(row)
            continue
        while f"{row_id}/{numbers[row_id]}" in ids:
            numbers[row_id] += 1
        rows.append(replace(row, **{id_field: f"{row_id}/{numbers[row_id]}"}))
    return replace(table, rows=rows)


def _path_suffixes(address: str) -> Iterator[str]:
    """Yield the ends of an address that may be the path of its file, the longest first.

    An invalid address has none.
    """
    try:
        url = urlsplit(address)
    except ValueError:  # such as "https://[a"
        return
    query = f"?{url.query}" if url.query else ""
    segments = [url.netloc, *url.path.lstrip("/").split("/")]
    for start in range(len(segments)):
        quoted = "/".join(segments[start:])
        unquoted = unquote(quoted)
        yield from dict.fromkeys([quoted + query, unquoted + query, quoted, unquoted])


def _list_values(value: object) -> list[object]:
    """Values of a list, which may be written in a cell; [value] if it is empty or no list."""
    parsed = parse_list(value)
    return parsed if isinstance(parsed, list) and parsed else [value]


def _read_csv(file: Path) -> Iterator[LocatedEntry]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.reader(lines, strict=True)
            header = next(reader, [])
            refuse_duplicate_columns(header, file)
            for cells in filter(any, reader):  # without blank rows
                where = f"{file}, line {reader.line_num}"
                if len(cells) == len(header):
                    yield LocatedEntry(dict(zip(header, cells, strict=True)), where)
                else:
                    fault = f"{where}: {len(cells)} cells, expected {len(header)}"
                    yield LocatedEntry(SourceError(fault), where)
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{file}: not CSV in UTF-8: {error}") from error
