"""Annotation answers and votes as inputs of dataset builds."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from bench_assets.annotation.answers.progress import undecided_units
from bench_assets.annotation.tasks import (
    AnnotationTerms,
    Answer,
    DecisionTable,
    SuiteAnnotationTask,
    UndecidedUnits,
    Unit,
    annotation_table,
)
from bench_assets.core.schema.rows import Question
from bench_assets.core.schema.signature import EXPIRED, OPEN
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings
from bench_resources.tables.parquet import TableFiles


def answers_key(task: SuiteAnnotationTask) -> dg.AssetKey:
    """Key of a task's answers, for tables made from them."""
    return dg.AssetKey(task.table("answers").split("/"))


def counted_answers(tables: TableFiles, task: SuiteAnnotationTask) -> list[Answer]:
    """Read the answers that count; none if the task was never active."""
    key = answers_key(task).path
    if not tables.exists(key):
        return []
    return [answer for answer in tables.read(key, Answer) if not answer.complaint]


def counted_rows(tables: TableFiles, task: SuiteAnnotationTask) -> list[Any]:
    """Read the answers that count as the suite's rows; none if the task was never active."""
    return task.to_rows(counted_answers(tables, task))


def needed_answers(settings: Settings, task: SuiteAnnotationTask) -> int | None:
    """Number of answers per unit in bench.toml; None, for the paper's number, if it has none."""
    task_settings = settings.annotation.tasks.get(task.task.name)
    return task_settings.needed if task_settings else None


def required_votes(settings: Settings, task: SuiteAnnotationTask, usual: int) -> int:
    """Number of votes that decide: bench.toml's, else ``usual``.

    If bench.toml does not configure the task, its votes come from files, where one is enough.
    """
    task_settings = settings.annotation.tasks.get(task.task.name)
    return (task_settings.needed or usual) if task_settings else 1


def decision_keys(task: Task) -> list[dg.AssetKey]:
    """Keys of the decision tables with open units of a question table."""
    return [dg.AssetKey(decision_table.name.split("/")) for decision_table in task.decided_in]


def undecided_by_decisions(
    tables: TableFiles, settings: Settings, decisions: DecisionTable
) -> UndecidedUnits:
    """Find the undecided units in the present decisions, as funnels and checks count them."""
    units = annotation_table(decisions.task, "units").split("/")
    task_settings = settings.annotation.tasks.get(decisions.task)
    return undecided_units(
        tables.read(units, Unit) if tables.exists(units) else [],
        counted=[],
        table_reasons=_open_rows(tables, decisions),
        terms=task_settings.terms if task_settings else AnnotationTerms(),
        now=datetime.now(UTC),
    )


def undecided_in_task(
    tables: TableFiles,
    task: SuiteAnnotationTask,
    suite: Suite,
    units: Sequence[Unit],
    counted: Sequence[Answer],
    terms: AnnotationTerms,
) -> UndecidedUnits:
    """Find the undecided units of a task, as its status and the report count them.

    The suite's decisions are used, unless they were made from other answers than ``counted``; then
    units with too few answers are undecided.
    """
    decision_tables = (table for suite_task in suite.tasks for table in suite_task.decided_in)
    decisions = next((table for table in decision_tables if table.task == task.task.name), None)
    open_reasons = None
    if decisions and _are_current(tables, decisions, task.to_rows(counted)):
        unit_ids = {unit.unit_id for unit in units}
        open_reasons = {
            unit_id: reason
            for unit_id, reason in _open_rows(tables, decisions).items()
            if unit_id in unit_ids
        }
    return undecided_units(units, counted, open_reasons, terms, datetime.now(UTC))


def _open_rows(tables: TableFiles, decisions: DecisionTable) -> Mapping[str, str]:
    """Undecided units of a decision table with their reasons; none without the table."""
    key = decisions.name.split("/")
    return decisions.open_rows(tables.read(key, decisions.row)) if tables.exists(key) else {}


def _are_current(tables: TableFiles, decisions: DecisionTable, answers: Sequence[Any]) -> bool:
    """Whether decisions were made from exactly these answers, besides votes from files."""
    votes_name, vote_type = decisions.votes
    if not all(tables.exists(name.split("/")) for name in (decisions.name, votes_name)):
        return False
    votes = tables.read(votes_name.split("/"), vote_type)
    # Only votes that were given in an annotation tool name it; those from files do not.
    return Counter(answers) == Counter(vote for vote in votes if vote.tool)


def undecided_by_task(
    task: Task, tables: TableFiles, settings: Settings, questions: Sequence[Question]
) -> dict[str, UndecidedUnits]:
    """Find the undecided units of a task's questions, by annotation task.

    Questions of a release have none: its authors decided.
    """
    if questions and not {question.edition for question in questions} & {"built", "mini"}:
        return {}
    return {
        decisions.task: undecided_by_decisions(tables, settings, decisions)
        for decisions in task.decided_in
    }


def count_units(task: Task, tables: TableFiles) -> dict[str, int]:
    """Number of published units, by the annotation task that decides about a task's questions.

    Attention checks are not counted.
    """
    counts: dict[str, int] = {}
    for decisions in task.decided_in:
        key = annotation_table(decisions.task, "units").split("/")
        if tables.exists(key):
            counts[decisions.task] = sum(not unit.gold for unit in tables.read(key, Unit))
    return counts


def label_undecided(
    questions: Sequence[Question], task: Task, tables: TableFiles, settings: Settings
) -> list[Question]:
    """Label each question with the numbers of open and expired units of active tasks.

    Signatures of metrics include these labels.
    """
    configured = settings.annotation.tasks
    by_task = undecided_by_task(task, tables, settings, questions) if configured else {}
    undecided = [units for name, units in by_task.items() if name in configured]
    counts = {
        OPEN: sum(len(units.open) for units in undecided),
        EXPIRED: sum(len(units.expired) for units in undecided),
    }
    labels = {name: str(count) for name, count in counts.items() if count}
    return [replace(question, labels={**question.labels, **labels}) for question in questions]
