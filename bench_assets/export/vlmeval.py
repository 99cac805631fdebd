"""Files of VLMEvalKit, as it writes them with ``PRED_FORMAT=tsv``: a folder for each model.

``MODEL_DATASET.tsv`` has the responses, ``..._bench-assets_result.tsv`` their points (``hit`` for
choices, else ``score``), and ``..._acc.csv`` the primary metric with its categories. Questions
without a response are left out, where VLMEvalKit counts a failed one as wrong.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from bench_assets.core.schema.rows import Question
from bench_assets.core.text.escaping import escape_formula
from bench_assets.export.lm_eval import model_folder
from bench_assets.export.samples import ExportSample, incomplete_reason, items
from bench_assets.workspace.inspect.table_collection import ModelResponses, TableCollection
from bench_resources.storage.atomic_write import open_atomic

_COLUMNS = ("index", "question", "hint")
_FURTHER_COLUMNS = ("answer", "category", "question_id", "prediction")


def write_vlmeval_files(gathered: TableCollection, out: Path) -> list[Path]:
    """Write responses, points and the primary metric of each model on each question table.

    Raises:
        HomeError: If a file cannot be written.
    """
    written: list[Path] = []
    for evaluation in gathered.evaluations():
        named = f"{evaluation.name} of {evaluation.model}"
        if evaluation.exam.questions[0].kind == "ranking":
            gathered.left_out.append(f"{named}: VLMEvalKit does not support rankings")
            continue
        if any(row.sample for row in evaluation.predictions):
            gathered.left_out.append(f"{named}: VLMEvalKit has one response to a question")
            continue
        name = model_folder(evaluation.model)
        stem = out / name / f"{name}_{dataset(evaluation)}"
        columns, rows = response_rows(evaluation)
        written.append(stem.with_name(f"{stem.name}.tsv"))
        _write(written[-1], columns, rows, "\t")
        points = "hit" if _is_choice(evaluation.exam.questions[0]) else "score"
        written.append(stem.with_name(f"{stem.name}_bench-assets_result.tsv"))
        scored = ({**row, points: row["points"]} for row in rows)
        _write(written[-1], [*columns, points, "log"], scored, "\t")
        if reason := incomplete_reason(evaluation):
            gathered.left_out.append(f"metrics of {named}: {reason}")
            continue
        accuracy = metric_row(evaluation)
        written.append(stem.with_name(f"{stem.name}_acc.csv"))
        _write(written[-1], list(accuracy), [accuracy], ",")
    return written


def dataset(one: ModelResponses) -> str:
    """Name a question table: the task's title; its condition and edition, if they are others."""
    parts = [one.task.title, *([] if one.condition == "main" else [one.condition])]
    parts += [] if one.exam.edition == "published" else [one.exam.edition]
    return re.sub(r"\W+", "-", "-".join(parts))


def response_rows(one: ModelResponses) -> tuple[list[str], list[dict[str, Any]]]:
    """Columns of a file of responses, and its rows with the further cells of one of points."""
    samples = [item for item in items(one) if not item.prediction.error]
    n_options = max((len(item.question.options) for item in samples), default=0)
    columns = [*_COLUMNS, *ascii_uppercase[:n_options], *_FURTHER_COLUMNS]
    return columns, [_cells(index, item) for index, item in enumerate(samples, 1)]


def metric_row(one: ModelResponses) -> dict[str, Any]:
    """The primary metric over all questions and in each category, as VLMEvalKit's accuracies."""
    values = {
        row.category: row.value
        for row in one.metrics
        if row.metric == one.task.primary_metric and not isnan(row.value)
    }
    overall = values.pop("all")
    return {"split": "none", "Overall": overall, **values}


def _cells(index: int, item: ExportSample) -> dict[str, Any]:
    question, most = item.question, item.score.max_points if item.score else 0.0
    return {
        "index": index,
        "question": question.text,
        "hint": "\n".join(text for text in (question.context, *question.image_texts) if text),
        **dict(zip(ascii_uppercase, question.options, strict=False)),
        "answer": _answer(question),
        "category": question.category,
        "question_id": question.question_id,
        "prediction": item.prediction.raw_text or item.prediction.text,
        "points": "" if item.points is None or not most else item.points / most,
        "log": item.explanation,
    }


def _answer(question: Question) -> str:
    if _is_choice(question):
        return "".join(question.answer)
    return question.answer[0] if len(question.answer) == 1 else json.dumps(question.answer)


def _is_choice(question: Question) -> bool:
    return question.kind in ("choice", "choices")


def _write(
    file: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]], delimiter: str
) -> None:
    """Write a table of quoted cells; columns of CSV, which are categories, are no formulas."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(map(escape_formula, columns) if delimiter == "," else columns)
    writer.writerows([row.get(name, "") for name in columns] for row in rows)
    with open_atomic(file) as opened:
        opened.write(text.getvalue().encode())
