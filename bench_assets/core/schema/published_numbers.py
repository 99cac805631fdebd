"""Published numbers of papers: ``published.csv`` beside each suite."""

import csv
from dataclasses import dataclass, fields
from pathlib import Path

from bench_assets.core.schema.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedNumber:
    """A number published in a paper."""

    task: str
    model: str
    condition: str
    metric: str
    category: str
    value: float  # as a share in [0, 1] where the paper prints percent
    printed: str  # digit for digit as printed
    source: str  # paper and table: "CODIS, Table 3 (human evaluation)"
    note: str = ""


_COLUMNS = [field.name for field in fields(PublishedNumber)]


def read_published(file: Path) -> list[PublishedNumber]:
    """Read a table of published numbers: CSV with the fields of ``PublishedNumber`` as columns.

    Raises:
        SourceError: If the file is missing, its columns differ, a cell is missing, a value is not
            a number or a row is duplicated; names file and line.
    """
    rows: dict[tuple[str, ...], PublishedNumber] = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, strict=True)
            if reader.fieldnames != _COLUMNS:
                raise SourceError(f"{file}, line 1: {reader.fieldnames}, expected {_COLUMNS}")
            for cells in reader:
                where = f"{file}, line {reader.line_num}"
                row = _parse_row(cells, where)
                key = row.task, row.model, row.condition, row.metric, row.category, row.source
                if key in rows:
                    raise SourceError(f"{where}: duplicate row {key}")
                rows[key] = row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SourceError(f"{file}: cannot be read as CSV: {error}") from error
    return list(rows.values())


def _parse_row(cells: dict[str, str], where: str) -> PublishedNumber:
    empty = [name for name in _COLUMNS if not cells[name] and name != "note"]
    if empty or None in cells or cells["note"] is None:  # None: of too many or too few cells
        raise SourceError(f"{where}: expected {len(_COLUMNS)} cells, only `note` may be empty")
    try:
        value = float(cells["value"])
    except ValueError as error:
        raise SourceError(f"{where}: value is {cells['value']!r}, expected a number") from error
    texts = {name: text for name, text in cells.items() if name != "value"}
    return PublishedNumber(value=value, **texts)
