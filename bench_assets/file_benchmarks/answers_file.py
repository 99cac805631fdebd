"""A second file with the answers to the questions of a first one, joined by id."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.answer_types.options import format_cell
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import Entry
from bench_assets.file_benchmarks.nested_columns import add_nested
from bench_assets.file_benchmarks.row_files import Row, read_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswersFile:
    """Location of the answers, and the columns that hold them."""

    file: Path
    id_column: str
    answer_column: str
    name: str = ""  # of the added column; default: answer_column, also where the questions have it

    def join(self, rows: Iterable[Row], id_of: Callable[[Entry], str]) -> Iterator[Row]:
        """Add the answers and other columns of this file to rows, whose ids ``id_of`` finds.

        Columns of the rows stay, except the answer. A row without an answer becomes faulty.

        Raises:
            SourceError: If the file cannot be read, or none of its rows has both columns.
        """
        answers = self._read_answers()
        for row in rows:
            row_id = "" if row.fault else id_of(row.cells)
            if row.fault:
                yield row
            elif row_id in answers:
                other_cells = dict(answers[row_id])
                answer = {self.name or self.answer_column: other_cells.pop(self.answer_column)}
                yield row._replace(cells={**other_cells, **row.cells, **answer})
            else:
                yield row._replace(fault=f"no answer to id {row_id!r:.60} in {self.file}")

    def _read_answers(self) -> dict[str, Entry]:
        """Read the cells of each id, except the id; an id that occurs twice is left out."""
        answers: dict[str, Entry] = {}
        ids: set[str] = set()
        paths = [name for name in (self.id_column, self.answer_column) if "." in name]
        for row in read_rows(self.file):
            cells = dict(add_nested(row, paths).cells)
            row_id = _id_text(cells.pop(self.id_column, None))
            if row_id in ids:
                answers.pop(row_id, None)
            elif row_id and self.answer_column in cells:
                answers[row_id] = cells
            ids.add(row_id)
        if not answers:
            raise SourceError(
                f"{self.file}: no row with the columns {self.id_column!r} and"
                f" {self.answer_column!r} (answers_file)"
            )
        return answers


def _id_text(cell: object) -> str:
    """An id as text; "" if it is neither a text nor a number."""
    try:
        return format_cell(cell)
    except SourceError:
        return ""
