"""Column roles of a question file, by configuration or usual name."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from string import ascii_uppercase

from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.tables.json_records import Entry
from bench_assets.file_benchmarks.answers import written
from bench_assets.file_benchmarks.prompts import FIELDS, fields_of
from resources.config.sections.benchmarks import Column, FileBenchmarkSettings

_USUAL: Mapping[Column, tuple[str, ...]] = {
    "question": ("question",),
    "images": ("images", "image"),
    "options": ("options", "choices"),
    "answer": ("answer", "answers"),
    "group": ("group",),
    "id": ("id",),
    "context": ("context",),
    "category": ("category",),
}
"""The first of these that has anything in it is taken, where the settings name none."""
_NUMBERED = re.compile(r"image_?\d+")


def columns_of(
    cells: Collection[str], benchmark: FileBenchmarkSettings, column: Column
) -> list[str]:
    """Name the columns of a file that hold one of ours; several for images and options."""
    if column in benchmark.columns:
        named = benchmark.columns[column]
        return [named] if isinstance(named, str) else list(named)
    if usual := [name for name in _USUAL[column] if name in cells][:1]:
        return usual
    if column == "images":
        numbered = [name for name in cells if _NUMBERED.fullmatch(name)]
        return sorted(numbered, key=lambda name: int(re.sub(r"\D", "", name)))
    if column == "options" and {"A", "B"} <= set(cells):
        return list(takewhile(lambda letter: letter in cells, ascii_uppercase))
    return []


def cells_of(cells: Entry, benchmark: FileBenchmarkSettings, column: Column) -> list[object]:
    """Take what a row holds in the columns of one of ours."""
    return [cells.get(name) for name in columns_of(_among(cells, column), benchmark, column)]


def text_of(cells: Entry, benchmark: FileBenchmarkSettings, column: Column) -> str:
    """Take a cell as a text; "" if there is no such column, or nothing in it.

    Raises:
        SourceError: If it is neither a text nor a number.
    """
    found = cells_of(cells, benchmark, column)
    try:
        return written(found[0]) if found else ""
    except SourceError as why:
        raise SourceError(f"{column}: {why}") from why


def labels_of(cells: Entry, benchmark: FileBenchmarkSettings) -> dict[str, str]:
    """Take the columns that are nothing else, where they hold texts or numbers."""
    ours = {
        name for column in _USUAL for name in columns_of(_among(cells, column), benchmark, column)
    }
    return {
        name: written(cell)
        for name, cell in cells.items()
        if name not in ours and isinstance(cell, str | int | float)
    }


def require_columns(benchmark: FileBenchmarkSettings, there: Sequence[str], section: str) -> None:
    """Look that the file has every column that the settings name.

    Raises:
        SettingsError: If it lacks one; names the entry, and the columns there are.
    """
    named = {f"columns, {ours}": columns_of((), benchmark, ours) for ours in benchmark.columns}
    for entry, name in ((entry, name) for entry, names in named.items() for name in names):
        if name not in there:
            raise _missing(f"{section}, {entry}", name, there)
    taken = {name for column in _USUAL for name in columns_of(there, benchmark, column)}
    further = [name for name in there if name not in taken]
    for entry, names, known in (
        ("slices", benchmark.slices, {*further, "category"}),
        ("prompt", fields_of(benchmark.prompt), {*further, *FIELDS}),
    ):
        for name in names:
            if name not in known:
                raise _missing(f"{section}, {entry}", name, sorted(known))
    if benchmark.metric == "group_accuracy" and not columns_of(there, benchmark, "group"):
        raise SettingsError(f"{section}, metric: group_accuracy needs a column group")


def _missing(entry: str, name: str, there: Sequence[str]) -> SettingsError:
    return SettingsError(f"{entry}: no column {name!r}; there are: {', '.join(there)}")


def _among(cells: Entry, column: Column) -> list[str]:
    """The columns of a row to look among: of several forms, the one that has something in it."""
    return [
        name
        for name, cell in cells.items()
        if cell is not None or column not in ("images", "options")
    ]
