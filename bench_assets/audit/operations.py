"""Operations of ``bench audit``."""

from collections.abc import Sequence

import dagster as dg

from bench_assets.asset_factory.evaluation_tables import audit_key
from bench_assets.audit.evidence_inputs import open_training_data
from bench_assets.audit.framework.findings import AuditRow
from bench_assets.audit.registry import audit_task
from bench_assets.audit.task_evidence import TaskEvidence
from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.images.store import open_image_store


def audit_tasks(bench: Workbench, names: Sequence[str]) -> tuple[list[AuditRow], list[BenchError]]:
    """Audit the named suites and tasks; without names, all tasks with questions for models.

    A task that cannot be audited does not stop the others.

    Returns:
        The findings, and the reason for each task that was not audited.

    Raises:
        UnknownNameError: If there is no such suite or task; nothing was started.
        SettingsError: If none of them has questions for models.
    """
    selected = [
        task for name in names or bench.catalog.names for task in bench.catalog.tasks_of(name)
    ]
    tasks = {task.name: task for task in selected if task.asked_of == "model"}
    if selected and not tasks:
        where = ", ".join(task.name for task in selected)
        raise SettingsError(f"{where}: evaluates encoders (expected a task that evaluates models)")
    rows: list[AuditRow] = []
    failures: list[BenchError] = []
    for task in tasks.values():
        try:
            if not task.measured_by:  # imported tasks have no source
                bench.refresh_questions(task.name)
            if bench.is_read_only:
                rows += audit_task(_task_evidence(bench, task))
            else:
                bench.materialize(dg.AssetSelection.assets(audit_key(task)))
                rows += bench.tables.read(audit_key(task).path, AuditRow)
        except BenchError as error:
            failures.append(error)
    return rows, failures


def _task_evidence(bench: Workbench, task: Task) -> TaskEvidence:
    images, training = open_image_store(bench.settings), open_training_data(bench.settings)
    return TaskEvidence(task=task, tables=bench.tables, image_store=images, training=training)
