"""Columns inside the objects and lists of a row: ``question.stem``, ``conversations.0.value``."""

from collections.abc import Iterator, Sequence
from itertools import chain

from bench_assets.core.answer_types.options import parse_list
from bench_assets.core.tables.json_records import Entry
from bench_assets.file_benchmarks.columns import source_columns
from bench_assets.file_benchmarks.prompts import fields_of
from bench_assets.file_benchmarks.row_files import Row
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings


def paths_of(benchmark: FileBenchmarkSettings) -> list[str]:
    """Column names of the settings that have a dot, such as ``question.stem``."""
    names: list[str] = []
    for columns in benchmark.columns.values():
        for column in [columns] if isinstance(columns, str) else columns:
            names += source_columns(column)
    labels = (*benchmark.slices, *fields_of(benchmark.prompt), *chain(*benchmark.groups.values()))
    return [name for name in dict.fromkeys((*names, *labels)) if "." in name]


def add_nested(row: Row, paths: Sequence[str]) -> Row:
    """Add the values at paths as columns; a column of that very name stays.

    >>> row = Row("line 1", {"q": {"stem": "Which?", "options": [{"text": "a"}, {"text": "b"}]}})
    >>> cells = add_nested(row, ["q.stem", "q.options.text", "q.options.1.text", "q.no"]).cells
    >>> [value for name, value in cells.items() if name != "q"]
    ['Which?', ['a', 'b'], 'b']
    """
    nested: Entry = {}
    for path in paths:
        value = None if path in row.cells else _value_at(row.cells, path.split("."))
        if value is not None:
            nested[path] = value
    return row._replace(cells={**row.cells, **nested})


def split_questions(
    row: Row, paths: Sequence[str], *, question_column: str, id_column: str, answer_column: str
) -> Iterator[Row]:
    """Split a row into one per question of a list, or per object of lists on its path.

    A list of as many answers or ids belongs to the questions in order.

    Args:
        row: A row, such as ``{"passage": "...", "qa_pairs": [{"question": "..."}, ...]}``.
        paths: Paths of all columns.
        question_column: Column of the question: ``qa_pairs.question``.
        id_column: Column of the id; questions without their own id get a number.
        answer_column: Column of the answer.
    """
    whole_row = add_nested(row, paths)
    is_nested = question_column not in row.cells
    parts = _split_lists(row.cells, question_column.split(".") if is_nested else [question_column])
    if parts == [row.cells]:
        yield whole_row
        return
    lists: dict[str, list[object]] = {}  # of one id or answer per question
    for column in (id_column, answer_column):
        values = parse_list(whole_row.cells.get(column))
        if isinstance(values, list) and len(values) == len(parts):
            lists[column] = values
    for number, part_cells in enumerate(parts, 1):
        part = add_nested(
            Row(where=f"{row.where}, question {number}", cells=part_cells, fault=row.fault), paths
        )
        cells = dict(part.cells)
        for column, values in lists.items():
            if parse_list(cells.get(column)) == values:  # not one of the question's own
                cells[column] = values[number - 1]
        has_own_id = id_column in cells and cells[id_column] != whole_row.cells.get(id_column)
        yield part._replace(cells=cells, part=0 if has_own_id else number)


def _value_at(value: object, path: Sequence[str]) -> object:
    """Value at a path; a number selects an entry of a list, a name the values of all entries."""
    if not path:
        return value
    name, *rest = path
    match parse_list(value):
        case dict(cells):
            return _value_at(cells.get(name), rest)
        case list(entries) if name.isdecimal():
            return _value_at(entries[int(name)], rest) if int(name) < len(entries) else None
        case list(entries):
            return [_value_at(entry, path) for entry in entries]
    return None


def _split_lists(cells: Entry, path: Sequence[str]) -> list[Entry]:
    """Copies of an object, each with one entry in place of every list on the path.

    A list whose entry the path selects by number stays whole.
    """
    name, *rest = path
    inner = parse_list(cells.get(name)) if rest else cells.get(name)
    if isinstance(inner, dict) and rest:
        parts = _split_lists(inner, rest)
        return [cells] if parts == [inner] else [{**cells, name: part} for part in parts]
    selects_by_number = bool(rest) and rest[0].isdecimal()
    if not isinstance(inner, list | tuple) or not inner or selects_by_number:
        return [cells]
    entries: list[object] = []
    for entry in inner:
        entries += _split_lists(entry, rest) if rest and isinstance(entry, dict) else [entry]
    return [{**cells, name: entry} for entry in entries]
