"""All tables as CSV, Parquet and JSON Lines: one file for each kind of row.

Columns ``task`` and ``question_set`` come first; with ``question_id`` they identify the question,
because conditions may have their own questions.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from bench_assets.core.schema.rows import (
    Judgement,
    LeaderboardRow,
    Metric,
    Prediction,
    Question,
    Score,
)
from bench_assets.core.tables.arrow import to_table
from bench_assets.core.text.escaping import FORMULA
from bench_assets.export.samples import as_json
from bench_assets.workspace.inspect.table_collection import TableCollection
from bench_resources.storage.atomic_write import open_atomic

EVALUATION_TABLES = {
    "predictions": Prediction,
    "judgements": Judgement,
    "scores": Score,
    "metrics": Metric,
}
FORMS = ("csv", "parquet", "jsonl")


class Writer(Protocol):
    """Writes tables of the same columns, one after the other."""

    def write_table(self, table: pa.Table) -> None:
        """Write the next rows."""

    def close(self) -> None:
        """Finish the file."""


def write_tables(
    collection: TableCollection, standings: Sequence[LeaderboardRow], out: Path, form: str
) -> list[Path]:
    """Write the selected tables below a folder, each atomically.

    CSV cells that a spreadsheet would evaluate as formulas are prefixed with '.
    """
    board_rows = [
        row for row in standings if collection.is_requested(row.task, row.model, row.edition)
    ]
    row_types = {"questions": Question, **EVALUATION_TABLES}
    with ExitStack() as stack:
        writers: dict[str, Writer] = {}
        for name, row_type in row_types.items():
            empty = build_table([], row_type, task="", question_set="")
            writers[name] = stack.enter_context(_open_table(out / f"{name}.{form}", empty))
        for question_table in collection.question_tables():
            columns = {"task": question_table.task.name, "question_set": question_table.name}
            rows = build_table(question_table.questions, Question, **columns)
            writers["questions"].write_table(rows)
        for evaluation in collection.evaluations():
            columns = {"task": evaluation.task.name, "question_set": evaluation.question_table.name}
            for name, row_type in EVALUATION_TABLES.items():
                rows = build_table(getattr(evaluation, name), row_type, **columns)
                writers[name].write_table(rows)
        board = stack.enter_context(
            _open_table(out / f"leaderboard.{form}", build_table([], LeaderboardRow))
        )
        board.write_table(build_table(board_rows, LeaderboardRow))
    return [out / f"{name}.{form}" for name in (*row_types, "leaderboard")]


def build_table(rows: Sequence[Any], row_type: type[Any], **constant_columns: str) -> pa.Table:
    """Build a table of rows; constant columns come first, and replace namesakes. NaN is null."""
    table = to_table(rows, row_type)
    for index, (name, value) in enumerate(constant_columns.items()):
        column = pa.array([value] * table.num_rows, pa.string())
        if name in table.schema.names:
            table = table.drop_columns(name)
        table = table.add_column(index, name, column)
    for index, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            column = table.column(index)
            cleaned = pc.if_else(pc.is_nan(column), pa.scalar(None, field.type), column)
            table = table.set_column(index, field.name, cleaned)
    return table


def flatten_nested(table: pa.Table) -> pa.Table:
    """Encode nested columns, such as lists and labels, as JSON for cells of CSV."""
    for index, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            values = table.column(index).to_pylist()
            cells = [as_json(_maps_to_dicts(value, field.type)) for value in values]
            table = table.set_column(index, field.name, pa.array(cells, pa.string()))
    return table


def maps_to_lists(table: pa.Table) -> pa.Table:
    """Convert map columns to lists of keys and values, because ``datasets`` does not read maps."""
    for index, field in enumerate(table.schema):
        if pa.types.is_map(field.type):
            pair_type = pa.struct([("key", field.type.key_type), ("value", field.type.item_type)])
            cells = [
                None if cell is None else [{"key": key, "value": value} for key, value in cell]
                for cell in table.column(index).to_pylist()
            ]
            table = table.set_column(index, field.name, pa.array(cells, pa.list_(pair_type)))
    return table


def json_lines(table: pa.Table) -> Iterator[str]:
    """Yield each row as a JSON object."""
    types = {field.name: field.type for field in table.schema}
    for row in table.to_pylist():
        yield as_json({name: _maps_to_dicts(value, types[name]) for name, value in row.items()})


@contextmanager
def _open_table(path: Path, empty: pa.Table) -> Iterator[Writer]:
    with open_atomic(path) as file:
        writer = _make_writer(file, empty, path.suffix)
        yield writer
        writer.close()


def _make_writer(file: IO[bytes], empty: pa.Table, suffix: str) -> Writer:
    if suffix == ".csv":
        return _Csv(file, flatten_nested(empty).schema)
    if suffix == ".parquet":
        from pyarrow.parquet import ParquetWriter

        return _Parquet(ParquetWriter(file, maps_to_lists(empty).schema))
    return _JsonLines(file)


class _Csv:
    """CSV with quoted texts, so that "" and a missing value differ."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        from pyarrow.csv import CSVWriter

        self._writer = CSVWriter(file, schema)

    def write_table(self, table: pa.Table) -> None:
        self._writer.write_table(_escape_formulas(flatten_nested(table)))

    def close(self) -> None:
        self._writer.close()


def _escape_formulas(table: pa.Table) -> pa.Table:
    """Apply the rule of ``escape_formula`` to all text columns."""
    for index, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            safe = pc.replace_substring_regex(table.column(index), f"^({FORMULA})", r"'\1")
            table = table.set_column(index, field, safe)
    return table


class _Parquet:
    """Parquet without empty row groups, which ``datasets`` does not read."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def write_table(self, table: pa.Table) -> None:
        if table.num_rows:
            self._writer.write_table(maps_to_lists(table))

    def close(self) -> None:
        self._writer.close()


class _JsonLines:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write_table(self, table: pa.Table) -> None:
        for line in json_lines(table):
            self._file.write(f"{line}\n".encode())

    def close(self) -> None:
        pass


def _maps_to_dicts(value: Any, data_type: pa.DataType) -> Any:  # noqa: ANN401
    return dict(value) if pa.types.is_map(data_type) and value is not None else value
