"""Columns inside the objects and lists of a row: ``question.stem``, ``conversations.0.value``."""

from collections.abc import Iterator, Sequence
from itertools import chain

from bench_assets.core.answer_types.options import parse_list
from bench_assets.core.tables.json_records import Entry
from bench_assets.file_benchmarks.columns import template_columns
from bench_assets.file_benchmarks.prompts import fields_of
from bench_assets.file_benchmarks.row_files import Row
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings


def paths_of(benchmark: FileBenchmarkSettings) -> list[str]:
    """Column names of the settings that have a dot, such as ``question.stem``."""
    listed = [[c] if isinstance(c, str) else c for c in benchmark.columns.values()]
    names = [part for c in chain(*listed) for part in (template_columns(c) if "{" in c else [c])]
    labels = (*benchmark.slices, *fields_of(benchmark.prompt), *chain(*benchmark.groups.values()))
    return [name for name in dict.fromkeys((*names, *labels)) if "." in name]


def add_nested(row: Row, paths: Sequence[str]) -> Row:
    """Add the values at paths as columns; a column of that very name stays.

    >>> row = Row("line 1", {"q": {"stem": "Which?", "options": [{"text": "a"}, {"text": "b"}]}})
    >>> cells = add_nested(row, ["q.stem", "q.options.text", "q.options.1.text", "q.no"]).cells
    >>> [value for name, value in cells.items() if name != "q"]
    ['Which?', ['a', 'b'], 'b']
    """
    values = {path: _value(row.cells, path.split(".")) for path in paths if path not in row.cells}
    nested = {path: value for path, value in values.items() if value is not None}
    return row._replace(cells={**row.cells, **nested})


def split_nested(row: Row, question: str, name: str) -> Iterator[Row]:
    """Split a row into one per object of the lists on the path of its question.

    Args:
        row: A row, such as ``{"passage": "...", "qa_pairs": [{"question": "..."}, ...]}``.
        question: Column of the question: ``qa_pairs.question``.
        name: Column of the id. Below the list, it names each question.
    """
    parts = [row.cells] if question in row.cells else _split_cells(row.cells, question.split("."))
    if parts in ([], [row.cells]):
        yield row
        return
    is_named = isinstance(_value(row.cells, name.split(".")), list)
    for part, cells in enumerate(parts, 1):
        yield Row(f"{row.where}, question {part}", cells, row.fault, 0 if is_named else part)


def _value(value: object, path: Sequence[str]) -> object:
    """Value at a path; of a list, those of its entries, or that of one by its number."""
    if not path:
        return value
    name, *rest = path
    match parse_list(value):
        case dict(cells):
            return _value(cells.get(name), rest)
        case list(entries) if name.isdecimal():
            return _value(entries[int(name)], rest) if int(name) < len(entries) else None
        case list(entries):
            return [_value(entry, path) for entry in entries]
    return None


def _split_cells(cells: Entry, path: Sequence[str]) -> list[Entry]:
    """Copies of an object, each with one entry in place of every list on the path."""
    name, *rest = path
    inner = parse_list(cells.get(name)) if rest else None
    if isinstance(inner, dict):
        parts = _split_cells(inner, rest)
        return [cells] if parts == [inner] else [{**cells, name: part} for part in parts]
    if not isinstance(inner, list) or rest[0].isdecimal():
        return [cells]
    return [
        {**cells, name: part}
        for entry in inner
        for part in (_split_cells(entry, rest) if isinstance(entry, dict) else [entry])
    ]
