"""Measured figures of judges and option permutations, and draws, stored per home.

Figures from people's verdicts are computed from the present tables instead.
"""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from bench_assets.annotation.responses.draws import DrawnUnit
from bench_assets.annotation.tasks import Answer
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.core.tables.json_records import read_lines, records
from bench_assets.evaluation.human_agreement import (
    LabelledResponses,
    figures_of_labels,
    majority_labels,
)
from bench_assets.evaluation.measured_figures import JudgeFigure, OrderFigure
from bench_assets.evaluation.task import Task
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.locks import hold_locks
from bench_resources.tables.parquet import TableFiles

_LOG = logging.getLogger("bench_assets.tables")
_FILES: Mapping[type[Any], str] = {
    JudgeFigure: "judges.jsonl",
    OrderFigure: "orders.jsonl",
    DrawnUnit: "draws.jsonl",
}

Figure = TypeVar("Figure", JudgeFigure, OrderFigure, DrawnUnit)


def read_figures(home: Path, kind: type[Figure], task: str = "") -> list[Figure]:
    """Read the figures of one task, or of all tasks.

    Raises:
        SourceError: If the file is damaged; names the line.
    """
    file = home / _FILES[kind]
    found = records(read_lines(file), kind).require() if file.exists() else []
    return [one for one in found if task in ("", one.task)]


def add_figures(home: Path, kind: type[Figure], figures: Sequence[Figure]) -> Path:
    """Append figures.

    Raises:
        HomeError: If the file cannot be written.
    """
    file = home / _FILES[kind]
    lines = [json.dumps(_json_fields(one), ensure_ascii=False) + "\n" for one in figures]
    with hold_locks(home / "locks", [file.name], _LOG.info):
        before = file.read_text("utf-8") if file.exists() else ""
        with open_atomic(file) as written:
            written.write((before + "".join(lines)).encode())
    return file


def _json_fields(figure: JudgeFigure | OrderFigure | DrawnUnit) -> dict[str, object]:
    """Fields of a figure, without NaN, which JSON does not have."""
    entry = asdict(figure)
    if isinstance(figure, OrderFigure):
        return {name: value for name, value in entry.items() if value == value}  # noqa: PLR0124
    return entry


def figures_from_annotation(tables: TableFiles, tasks: Iterable[Task]) -> list[JudgeFigure]:
    """Measure the judges of all tasks against people's verdicts on responses.

    Unreadable tables are left out: ``bench home verify`` reports them.
    """
    found = []
    for task in tasks:
        try:
            found += _figures(tables, task)
        except TableError:
            continue
    return found


def _figures(tables: TableFiles, task: Task) -> list[JudgeFigure]:
    verdicts_task = next(iter(task.response_tasks), None)
    if verdicts_task is None or not task.is_judged:
        return []
    key = verdicts_task.table("answers").split("/")
    if not tables.exists(key):
        return []
    answers = [one for one in tables.read(key, Answer) if not one.complaint]
    verdicts = verdicts_task.to_rows(answers)
    question_ids = {one.question_id for one in verdicts}
    if not question_ids:
        return []
    folder = task.name.split("/")
    questions = {one.question_id: one for one in tables.read([*folder, "questions"], Question)}
    judged = [*folder, "judgements"]
    responses = [
        LabelledResponses(
            tables.read([*folder, "predictions"], Prediction, model, question_ids),
            tables.read(judged, Judgement, model, question_ids),
        )
        for model in sorted(tables.partitions(judged))
    ]
    labels = [label for of in responses for label in majority_labels(verdicts, of.predictions)]
    at = max(answer.changed_at for answer in answers)
    return figures_of_labels(task, questions, responses, labels, at)
