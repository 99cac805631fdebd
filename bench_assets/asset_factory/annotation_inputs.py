"""Annotation answers and votes as inputs of dataset builds."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import dagster as dg

from bench_assets.annotation.tasks import Answer, SuiteAnnotationTask
from bench_assets.core.schema.rows import Question
from bench_assets.core.schema.signature import OPEN
from bench_assets.evaluation.task import Task
from resources.config.bench_toml import Settings
from resources.tables.parquet import TableFiles


def answers_key(task: SuiteAnnotationTask) -> dg.AssetKey:
    """Key of a task's answers, for tables made from them."""
    return dg.AssetKey(task.table("answers").split("/"))


def counted_answers(tables: TableFiles, task: SuiteAnnotationTask) -> list[Answer]:
    """Read the answers that count; none if the task was never active."""
    key = answers_key(task).path
    if not tables.exists(key):
        return []
    return [one for one in tables.read(key, Answer) if not one.complaint]


def heard(tables: TableFiles, task: SuiteAnnotationTask) -> list[Any]:
    """Read the answers that count as the suite's rows; none if the task was never active."""
    return task.to_rows(counted_answers(tables, task))


def needed_of(settings: Settings, task: SuiteAnnotationTask) -> int | None:
    """Answers per unit from bench.toml; None: the paper's number."""
    asked = settings.annotation.tasks.get(task.task.name)
    return asked.needed if asked else None


def least_votes(settings: Settings, task: SuiteAnnotationTask, usual: int) -> int:
    """Votes that decide: bench.toml's number, else one for votes from files.

    Args:
        settings: Settings of annotation.
        task: The task that collects the votes.
        usual: Votes per unit if bench.toml does not say.
    """
    asked = settings.annotation.tasks.get(task.task.name)
    return (asked.needed or usual) if asked else 1


def decided_in(task: Task) -> list[dg.AssetKey]:
    """Keys of the decision tables with open units of a question table."""
    return [dg.AssetKey(one.name.split("/")) for one in task.decided_in]


def open_units(
    task: Task, tables: TableFiles, questions: Sequence[Question]
) -> dict[str, list[str]]:
    """Find undecided units by the annotation task that decides them, one line each.

    Questions of a release have no open units: its authors decided them.
    """
    found: dict[str, list[str]] = {}
    if questions and not {one.edition for one in questions} & {"built", "mini"}:
        return found
    for one in task.decided_in:
        key = one.name.split("/")
        rows = tables.read(key, one.row) if tables.exists(key) else []
        found.setdefault(one.task, []).extend(one.open_rows(rows))
    return found


def with_open(
    questions: Sequence[Question], task: Task, tables: TableFiles, settings: Settings
) -> list[Question]:
    """Note the number of open units in each question; nothing if the task is inactive.

    Signatures of numbers from such a table say so.
    """
    asked = settings.annotation.tasks
    found = open_units(task, tables, questions) if asked else {}
    n = sum(len(open_) for task, open_ in found.items() if task in asked)
    if not n:
        return list(questions)
    return [replace(one, labels={**one.labels, OPEN: str(n)}) for one in questions]
