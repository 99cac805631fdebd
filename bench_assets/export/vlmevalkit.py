"""VLMEvalKit's TSV files: question tables, and responses as input of its ``evaluate``.

``index`` numbers the questions of a file from 1; ``question_id`` is our id. Images are base64
cells, with VLMEvalKit's file name in ``image_path``. VLMEvalKit skips questions without images.

Each model has a folder, as in VLMEvalKit's work folder. Responses have a column ``points``; metrics
are in ``..._score.csv``, by split and metric. VLMEvalKit's ``evaluate`` writes its own.
"""

import base64
import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from pathlib import Path
from string import ascii_uppercase
from typing import Any
from urllib.parse import quote

from bench_assets.core.images.decoding import to_plain_format
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.text.escaping import escape_formula
from bench_assets.export.samples import incomplete_reason
from bench_assets.workspace.inspect.table_collection import (
    ExportTable,
    ModelResponses,
    TableCollection,
)
from bench_resources.images.store import ImageStore
from bench_resources.storage.atomic_write import open_atomic

_LEADING_COLUMNS = ("index", "image", "image_path", "question", "hint")
_TRAILING_COLUMNS = ("answer", "category", "split", "question_id")
_DIGITS = 16
OVERALL = "Overall"
"""Split of a table of metrics that covers all questions."""


def write_questions_and_responses(
    gathered: TableCollection, image_store: ImageStore, out: Path
) -> list[Path]:
    """Write a file per question table, and one per model evaluated on it.

    Raises:
        HomeError: If one cannot be written.
    """
    written = []
    for exam in gathered.exams():
        if exam.questions[0].kind == "ranking":
            gathered.left_out.append(f"{dataset(exam)}: VLMEvalKit does not support rankings")
            continue
        written.append(out / f"{dataset(exam)}.tsv")
        _write(written[-1], columns(exam), question_rows(exam, image_store, gathered.left_out))
    for one in gathered.evaluations():
        if one.exam.questions[0].kind != "ranking":
            condition = "" if one.condition == one.exam.name else f"-{one.condition}"
            model = quote(one.model, safe="@+=")
            stem = out / model / f"{model}_{dataset(one.exam)}{condition}"
            written.append(stem.with_name(f"{stem.name}.tsv"))
            _write(written[-1], response_columns(one.exam), response_rows(one))
            if why := incomplete_reason(one):
                gathered.left_out.append(f"metrics of {one.name} of {one.model}: {why}")
            else:
                written.append(stem.with_name(f"{stem.name}_score.csv"))
                _write(written[-1], *metric_rows(one), delimiter=",")
    return written


def dataset(exam: ExportTable) -> str:
    """VLMEvalKit's name of a question table, with the edition.

    >>> from bench_assets.evaluation.task import Task
    >>> named = Task(name="a/b", title="", version=1, conditions={}, scorers={}, measures={})
    >>> question = Question(
    ...     question_id="", task="", edition="mini", kind="text", text="", answer=()
    ... )
    >>> dataset(ExportTable(task=named, name="main", questions=[question], key=()))
    'a-b-mini'
    """
    name = exam.task.name.replace("/", "-")
    return "-".join([name, *([] if exam.name == "main" else [exam.name]), exam.edition])


def columns(exam: ExportTable) -> list[str]:
    """Columns of a question table, with one per letter up to the most options."""
    max_options = max((len(one.options) for one in exam.questions if _has_options(one)), default=0)
    return [*_LEADING_COLUMNS, *ascii_uppercase[:max_options], *_TRAILING_COLUMNS]


def question_rows(
    exam: ExportTable, image_store: ImageStore, left_out: list[str]
) -> Iterator[Mapping[str, Any]]:
    """Rows of a question table; one with an unreadable image is left out and reported."""
    for index, question in enumerate(exam.questions, start=1):
        try:
            plain_images = [to_plain_format(image_store.read(one))[1] for one in question.images]
        except ImageError as error:
            left_out.append(f"{question.question_id}: {error}")
            continue
        paths = [f"{one[:_DIGITS]}.png" for one in question.images]
        images = [base64.b64encode(one).decode() for one in plain_images]
        image_columns = {"image": _one_or_list(images), "image_path": _one_or_list(paths)}
        yield {**_question_cells(index, question), **image_columns}


def response_columns(exam: ExportTable) -> list[str]:
    """Columns of a table of responses."""
    kept = (name for name in columns(exam) if not name.startswith("image"))
    return [*kept, "prediction", "points"]


def response_rows(one: ModelResponses) -> Iterator[Mapping[str, Any]]:
    """Rows of the first sample of each response; missing responses are left out."""
    predictions = {
        row.question_id: row for row in one.predictions if row.sample == 0 and not row.error
    }
    scored = {row.question_id: row for row in one.scores if row.sample == 0}
    for index, question in enumerate(one.exam.questions, start=1):
        if response := predictions.get(question.question_id):
            share = _share(scored.get(question.question_id))
            yield {**_question_cells(index, question), "prediction": response.text, "points": share}


def _share(score: Score | None) -> float | str:
    """Share of the points; "" if there is no score, or the question has none."""
    if score is None or score.points is None or not score.max_points:
        return ""
    return score.points / score.max_points


def metric_rows(one: ModelResponses) -> tuple[list[str], list[Mapping[str, Any]]]:
    """Columns and rows of the metrics: a row for each category, the primary metric first."""
    known = [row for row in one.metrics if not isnan(row.value)]
    names = dict.fromkeys(
        [one.task.primary_metric, *(row.metric for row in known if row.category == "all"),
         *(row.metric for row in known)]
    )  # fmt: skip
    rows: dict[str, dict[str, Any]] = {"all": {"split": OVERALL}}
    for row in known:
        rows.setdefault(row.category, {"split": row.category})[row.metric] = row.value
    return ["split", *names], list(rows.values())


def format_rows(
    columns: Sequence[str], rows: Iterable[Mapping[str, Any]], delimiter: str
) -> Iterator[bytes]:
    """Format rows with quoted texts; in CSV, cells are protected against formulas."""
    line = io.StringIO()
    writer = csv.DictWriter(
        line,
        columns,
        restval="",
        delimiter=delimiter,
        lineterminator="\n",
        quoting=csv.QUOTE_NONNUMERIC,
    )
    writer.writeheader()
    yield _drain(line)
    for row in rows:
        writer.writerow(_escape_formulas(row) if delimiter == "," else row)
        yield _drain(line)


def _escape_formulas(row: Mapping[str, Any]) -> dict[str, Any]:
    return {n: escape_formula(cell) if isinstance(cell, str) else cell for n, cell in row.items()}


def _question_cells(index: int, question: Question) -> dict[str, Any]:
    """Cells of a question; its text includes the hint where VLMEvalKit shows none."""
    hint = "\n".join(text for text in (question.context, *question.image_texts) if text)
    offers = _has_options(question)
    options = dict(zip(ascii_uppercase, question.options, strict=False)) if offers else {}
    return {
        "index": index,
        "question": question.text if offers or not hint else f"{hint}\n{question.text}",
        "hint": hint if offers else "",
        **options,
        "answer": "".join(question.answer) if offers else _one_or_list(question.answer),
        "category": question.category,
        "split": question.labels.get("split", ""),
        "question_id": question.question_id,
    }


def _has_options(question: Question) -> bool:
    return question.kind in ("choice", "choices")


def _one_or_list(values: Sequence[str]) -> str:
    """A single text as it is; several, or one in brackets, as JSON, which VLMEvalKit evaluates."""
    if len(values) == 1 and not values[0].startswith("["):
        return values[0]
    return json.dumps(values, ensure_ascii=False) if values else ""


def _write(
    path: Path, names: Sequence[str], rows: Iterable[Mapping[str, Any]], delimiter: str = "\t"
) -> None:
    with open_atomic(path) as file:
        file.writelines(format_rows(names, rows, delimiter))


def _drain(line: io.StringIO) -> bytes:
    written = line.getvalue().encode()
    line.seek(0)
    line.truncate()
    return written
