"""Operations of ``bench audit``: audits tasks, and compares judges with people."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import audit_key, evaluation_key
from bench_assets.audit.evidence_inputs import open_training_data
from bench_assets.audit.framework.findings import AuditRow
from bench_assets.audit.registry import audit_task
from bench_assets.audit.task_evidence import TaskEvidence
from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_assets.core.schema.rows import Judgement, Prediction
from bench_assets.evaluation.human_agreement import (
    LabelledResponses,
    figures_of_labels,
    read_labels,
)
from bench_assets.evaluation.measured_figures import JudgeFigure
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.images.store import open_image_store
from bench_resources.tables.measured_figures import add_figures


def audit_tasks(
    bench: Workbench, names: Sequence[str] = ()
) -> tuple[list[AuditRow], list[BenchError]]:
    """Audit tasks; a task that cannot be audited does not stop the others.

    Args:
        bench: The home folder.
        names: Suites and tasks; (): all tasks with questions for models.

    Returns:
        The findings, and the reason for each task that was not audited.

    Raises:
        UnknownNameError: If there is no such suite or task; nothing was started.
        SettingsError: If none of them has questions for models.
    """
    named = [task for name in names or bench.catalog.names for task in bench.catalog.tasks_of(name)]
    tasks = {task.name: task for task in named if task.asked_of == "model"}
    if named and not tasks:
        only = ", ".join(task.name for task in named)
        raise SettingsError(f"{only}: evaluates encoders (expected a task that evaluates models)")
    rows: list[AuditRow] = []
    failures: list[BenchError] = []
    for task in tasks.values():
        try:
            if not task.measured_by:  # imported tasks have no source
                bench.refresh_questions(task.name)
            if bench.is_read_only:
                rows += audit_task(_evidence(bench, task))
                continue
            bench.materialize(dg.AssetSelection.assets(audit_key(task)))
            rows += bench.tables.read(audit_key(task).path, AuditRow)
        except BenchError as error:
            failures.append(error)
    return rows, failures


def _evidence(bench: Workbench, task: Task) -> TaskEvidence:
    images, training = open_image_store(bench.settings), open_training_data(bench.settings)
    return TaskEvidence(task, bench.tables, images, bench.catalog.tasks, training)


def compare_with_people(bench: Workbench, name: str, labels: Path) -> list[JudgeFigure]:
    """Compare the judges of a suite or task with people's labels, and store the figures.

    Args:
        bench: The home, with judged responses of models.
        name: A suite or task.
        labels: JSON lines of people's verdicts on these responses.

    Raises:
        BenchError: If the labels cannot be read, or none is on a judged response.
    """
    tasks = [task for task in bench.catalog.tasks_of(name) if task.is_judged]
    if not tasks:
        raise SettingsError(f"{name}: has no judge. Name a judged task")
    people = read_labels(labels)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    figures = [
        figure
        for task in tasks
        for responses in [_labelled_responses(bench, task, {one.question_id for one in people})]
        if responses
        for questions in [{one.question_id: one for one in bench.questions(task)}]
        for figure in figures_of_labels(task, questions, responses, people, now)
    ]
    if not figures:
        raise SettingsError(
            f"{labels}: none of its labels is on a response to {name} that a judge judged. First"
            " evaluate a model with --judge"
        )
    add_figures(bench.settings.home, JudgeFigure, figures)
    return figures


def _labelled_responses(
    bench: Workbench, task: Task, question_ids: Collection[str]
) -> list[LabelledResponses]:
    predictions, judgements = (
        evaluation_key(task, "main", name) for name in ("predictions", "judgements")
    )
    return [
        LabelledResponses(
            bench.tables.read(predictions, Prediction, model, question_ids),
            bench.tables.read(judgements, Judgement, model, question_ids),
        )
        for model in bench.tables.partitions(judgements)
    ]
