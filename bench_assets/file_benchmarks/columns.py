"""Maps the columns of a file to question fields and labels, and reports missing columns."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from string import Formatter, ascii_uppercase

from bench_assets.core.answer_types.options import format_cell
from bench_assets.core.reading.choices import MAX_OPTIONS
from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.tables.json_records import Entry
from bench_assets.file_benchmarks.images import guess_media
from bench_assets.file_benchmarks.prompts import FIELDS, fields_of
from bench_resources.config.sections.benchmarks import Column, FileBenchmarkSettings

_USUAL: Mapping[Column, tuple[str, ...]] = {
    "question": ("question",),
    "images": ("images", "image", "file_name"),
    "options": ("options", "choices"),
    "answer": ("answer", "answers"),
    "group": ("group",),
    "id": ("id", "index"),
    "context": ("context",),
    "category": ("category",),
    "turns": ("turns",),
    "unit": (),
    "decimals": (),
}
"""Default column names of each field; the first one in the file is used."""
_LETTERS = ascii_uppercase[:MAX_OPTIONS]
_NUMBERED = re.compile(r"image_?\d+")
_ARITHMETIC = re.compile(r"(?P<column>.+?)\s*(?P<operator>%|//)\s*(?P<divisor>\d+)")
"""Field of a template with the remainder or the whole part of a division: ``{index % 1000000}``."""


class MissingSettingError(SourceError):
    """A row whose meaning a setting would state; the message names the setting."""


def columns_of(
    present: Collection[str], benchmark: FileBenchmarkSettings, column: Column
) -> list[str]:
    """Columns of a field: configured ones, else usual ones that are ``present``; maybe several."""
    if column == "answer" and benchmark.answers_file:
        return [answer_column(benchmark.answers_file.answer, benchmark)]
    if column in benchmark.columns:
        columns = benchmark.columns[column]
        return [columns] if isinstance(columns, str) else list(columns)
    for name in _USUAL[column]:
        if name in present:
            return [name]
    if column == "images":
        numbered = [name for name in present if _NUMBERED.fullmatch(name)]
        return sorted(numbered, key=lambda name: int(re.sub(r"\D", "", name)))
    if column == "options" and {"A", "B"} <= set(present):
        return _option_letters(present)
    return []


def _option_letters(present: Collection[str]) -> list[str]:
    """Columns A, B, ... before a gap of two letters; a gap of one is an empty option."""
    n = 1
    while any(letter in present for letter in _LETTERS[n : n + 2]):
        n += 1
    return list(_LETTERS[:n])


def answer_column(name: str, benchmark: FileBenchmarkSettings) -> str:
    """Column of the answers of a second file; never one that holds another question field."""
    others = [column for field, column in benchmark.columns.items() if field != "answer"]
    return f"{name} (answers_file)" if name in others else name


def cells_of(cells: Entry, benchmark: FileBenchmarkSettings, column: Column) -> list[object]:
    """Cells of a row for a question field; templates such as ``"{Index}.jpg"`` are filled in."""
    names = columns_of(_candidate_columns(cells, column), benchmark, column)
    return [_fill_template(name, cells) if "{" in name else cells.get(name) for name in names]


def source_columns(column: str) -> list[str]:
    """Columns of the file that a setting names: itself, or those of its template."""
    if "{" not in column:
        return [column]
    divisions = {field: _ARITHMETIC.fullmatch(field) for field in fields_of(column)}
    return [match["column"] if match else field for field, match in divisions.items()]


def _fill_template(template: str, cells: Entry) -> str | None:
    """Fill the cells of a row into a template; None if one is empty."""
    filled = ""
    for literal, name, spec, _ in Formatter().parse(template):
        text = _format_field(name, spec or "", cells) if name else ""
        if name and not text:
            return None
        filled += literal + text
    return filled


def _format_field(name: str, spec: str, cells: Entry) -> str:
    """Format a cell as a field of a template; "" if it is empty."""
    division = _ARITHMETIC.fullmatch(name)
    text = format_cell(cells.get(division["column"] if division else name))
    if not text or not (division or spec):
        return text
    divisor = int(division["divisor"]) if division else 1
    if not text.isdecimal() or not divisor:
        raise SourceError(f"{{{name}}}: {text!r:.60} (expected a whole number)")
    try:
        number = int(text)
        if division:
            number = number % divisor if division["operator"] == "%" else number // divisor
        return format(number, spec)
    except (OverflowError, ValueError) as error:  # also a number of too many digits
        raise SourceError(f"{{{name}:{spec}}}: {error}") from error


def text_of(cells: Entry, benchmark: FileBenchmarkSettings, column: Column) -> str:
    """A cell as text; "" without a column or value. A category in a list is joined.

    Raises:
        SourceError: If it is neither text nor number, or a template cannot be filled in.
    """
    column_cells = cells_of(cells, benchmark, column)
    if not column_cells:
        return ""
    first = column_cells[0]
    try:
        return format_cell(_join(first) if column == "category" else first)
    except SourceError as error:
        raise SourceError(f"{column}: {error}") from error


def _join(cell: object) -> object:
    """Join the texts of a list, as a category or a slice; another cell stays as it is."""
    return ", ".join(map(format_cell, cell)) if isinstance(cell, list | tuple) else cell


def labels_of(cells: Entry, benchmark: FileBenchmarkSettings) -> dict[str, str]:
    """Labels of a question: its other columns that hold texts or numbers.

    Raises:
        MissingSettingError: If a column that no setting names looks like images, video or audio.
        SourceError: If a column of ``slices`` holds neither texts nor numbers.
    """
    standard = {
        name
        for column in _USUAL
        for name in columns_of(_candidate_columns(cells, column), benchmark, column)
    }
    extra = {
        name: _join(cell) if name in benchmark.slices else cell
        for name, cell in cells.items()
        if name not in standard
    }
    configured = {
        *benchmark.slices,
        *fields_of(benchmark.prompt),
        *chain(*benchmark.groups.values()),
    }
    for name, cell in extra.items():
        if name not in configured and name not in benchmark.ignore:
            _refuse_media(name, cell)
        if name in benchmark.slices and not isinstance(cell, str | int | float | None):
            raise SourceError(f"{name} is {cell!r:.60}: expected a text or a number, to slice by")
    return {
        name: format_cell(cell)
        for name, cell in extra.items()
        if isinstance(cell, str | int | float)
    }


def _refuse_media(name: str, cell: object) -> None:
    match guess_media(name, cell):
        case "images":
            raise MissingSettingError(
                f"column {name!r} looks like images ({cell!r:.60}), but is not used. Name it in "
                "columns (images), or in ignore"
            )
        case "video or audio":
            raise MissingSettingError(
                f"column {name!r} looks like video or audio ({cell!r:.60}): only images are "
                "supported. Provide frames as images, and name the column in ignore"
            )


def require_columns(benchmark: FileBenchmarkSettings, present: Sequence[str], section: str) -> None:
    """Check that the file has every configured column, unless no row is an object.

    Raises:
        SettingsError: If one is missing, or the metric needs groups and none is named; names the
            entry.
    """
    if not present:
        return
    for field in benchmark.columns:
        for column in columns_of((), benchmark, field):
            _require_names(f"{section}, columns, {field}", source_columns(column), present)
    standard = {name for column in _USUAL for name in columns_of(present, benchmark, column)}
    extra = [name for name in present if name not in standard]
    for entry, names, allowed in (
        ("slices", benchmark.slices, {*extra, "category"}),
        ("ignore", benchmark.ignore, {*present}),
        ("groups", chain(*benchmark.groups.values()), {*extra, "category", "group"}),
        ("prompt", fields_of(benchmark.prompt), {*extra, *FIELDS}),
    ):
        _require_names(f"{section}, {entry}", names, sorted(allowed))
    has_groups = benchmark.group_size or columns_of(present, benchmark, "group")
    if benchmark.metric == "group_accuracy" and not has_groups:
        raise SettingsError(f"{section}, metric: group_accuracy needs a column group or group_size")


def _require_names(entry: str, names: Iterable[str], columns: Sequence[str]) -> None:
    for name in names:
        if name not in columns:
            raise SettingsError(f"{entry}: no column {name!r}; there are: {', '.join(columns)}")


def _candidate_columns(cells: Entry, column: Column) -> list[str]:
    """Columns of a row that may hold a field; for images and options, only those with a value.

    Lettered option columns count even if empty, unless all of them are.
    """
    has_letters = column == "options" and any(cells.get(letter) is not None for letter in _LETTERS)
    return [
        name
        for name, cell in cells.items()
        if cell is not None
        or column not in ("images", "options")
        or (has_letters and name in tuple(_LETTERS))
    ]
