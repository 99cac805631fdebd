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
from bench_assets.export.lm_eval import claim_folder
from bench_assets.export.samples import ExportSample, export_samples, incomplete_reason
from bench_assets.workspace.inspect.table_collection import ModelResponses, TableCollection
from bench_resources.storage.atomic_write import open_atomic

_COLUMNS = ("index", "question", "hint")
_FURTHER_COLUMNS = ("answer", "category", "question_id", "prediction")


def write_vlmeval_files(collection: TableCollection, out: Path) -> list[Path]:
    """Write each model's responses, points and primary metric, or add why not to ``left_out``.

    Raises:
        SettingsError: If two models would share a folder.
    """
    files: list[Path] = []
    owners: dict[str, str] = {}
    for evaluation in collection.evaluations():
        label = f"{evaluation.name} of {evaluation.model}"
        if reason := _unsupported_reason(evaluation):
            collection.left_out.append(f"{label}: {reason}")
            continue
        model = claim_folder(evaluation.model, owners)
        base = str(out / model / f"{model}_{dataset_name(evaluation)}")
        columns, rows = response_rows(evaluation)
        files.append(_write_table(Path(f"{base}.tsv"), columns, rows, "\t"))
        points_column = "hit" if _is_choice(evaluation.question_table.questions[0]) else "score"
        point_rows = [{**row, points_column: row["points"]} for row in rows]
        points_file = Path(f"{base}_bench-assets_result.tsv")
        files.append(_write_table(points_file, [*columns, points_column, "log"], point_rows, "\t"))
        if reason := incomplete_reason(evaluation):
            collection.left_out.append(f"metrics of {label}: {reason}")
            continue
        accuracies = accuracy_row(evaluation)
        files.append(_write_table(Path(f"{base}_acc.csv"), list(accuracies), [accuracies], ","))
    return files


def _unsupported_reason(evaluation: ModelResponses) -> str:
    """Reason why VLMEvalKit has no file for these responses; "" if it has."""
    if evaluation.question_table.questions[0].kind == "ranking":
        return "VLMEvalKit does not support rankings"
    if any(row.sample for row in evaluation.predictions):
        return "VLMEvalKit has one response to a question"
    return ""


def dataset_name(evaluation: ModelResponses) -> str:
    """Name of a question table: the task's title, and its condition and edition if not default."""
    condition = "" if evaluation.condition == "main" else evaluation.condition
    table_edition = evaluation.question_table.edition
    edition = "" if table_edition == "published" else table_edition
    return re.sub(r"\W+", "-", "-".join(filter(None, (evaluation.task.title, condition, edition))))


def response_rows(evaluation: ModelResponses) -> tuple[list[str], list[dict[str, Any]]]:
    """Columns of the file of responses, and rows, which also have the cells of the points' file."""
    samples = [sample for sample in export_samples(evaluation) if not sample.prediction.error]
    n_options = max((len(sample.question.options) for sample in samples), default=0)
    columns = [*_COLUMNS, *ascii_uppercase[:n_options], *_FURTHER_COLUMNS]
    return columns, [_cells(index, sample) for index, sample in enumerate(samples, 1)]


def accuracy_row(evaluation: ModelResponses) -> dict[str, Any]:
    """The primary metric overall and of each category, as a row of VLMEvalKit's accuracies."""
    values = {
        row.category: row.value
        for row in evaluation.metrics
        if row.metric == evaluation.task.primary_metric and not isnan(row.value)
    }
    overall = values.pop("all")
    return {"split": "none", "Overall": overall, **values}


def _cells(index: int, sample: ExportSample) -> dict[str, Any]:
    question = sample.question
    max_points = sample.score.max_points if sample.score else 0.0
    share = sample.points / max_points if sample.points is not None and max_points else ""
    return {
        "index": index,
        "question": question.text,
        "hint": "\n".join(text for text in (question.context, *question.image_texts) if text),
        **dict(zip(ascii_uppercase, question.options, strict=False)),
        "answer": _answer(question),
        "category": question.category,
        "question_id": question.question_id,
        "prediction": sample.prediction.raw_text or sample.prediction.text,
        "points": share,
        "log": sample.explanation,
    }


def _answer(question: Question) -> str:
    if _is_choice(question):
        return "".join(question.answer)
    return question.answer[0] if len(question.answer) == 1 else json.dumps(question.answer)


def _is_choice(question: Question) -> bool:
    return question.kind in ("choice", "choices")


def _write_table(
    file: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]], delimiter: str
) -> Path:
    """Write a table of quoted cells; return its file. Formulas in CSV column names are escaped."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(map(escape_formula, columns) if delimiter == "," else columns)
    writer.writerows([row.get(name, "") for name in columns] for row in rows)
    with open_atomic(file) as table:
        table.write(text.getvalue().encode())
    return file
