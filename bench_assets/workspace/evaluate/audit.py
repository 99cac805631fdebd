"""What ``bench audit`` does: examines benchmarks, task by task."""

from collections.abc import Sequence

import dagster as dg

from bench_assets.audit.framework.findings import AuditRow
from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_assets.defs.tables.audit import audit_key
from bench_assets.workspace.materialization.workbench import Workbench


def examine_each(
    bench: Workbench, names: Sequence[str] = ()
) -> tuple[list[AuditRow], list[BenchError]]:
    """Examine tasks; one that cannot be examined does not end the rest.

    Args:
        bench: The home folder.
        names: Suites and tasks; (): all that models are asked.

    Returns:
        What was found, and what kept other tasks from being examined.

    Raises:
        UnknownNameError: If there is no such suite or task; nothing has started then.
        SettingsError: If none of those named is asked of models.
    """
    named = [task for name in names or bench.catalog.names for task in bench.catalog.tasks_of(name)]
    tasks = {task.name: task for task in named if task.asked_of == "model"}
    if named and not tasks:
        only = ", ".join(task.name for task in named)
        raise SettingsError(f"{only}: asked of encoders; only what models are asked is examined")
    rows: list[AuditRow] = []
    failures: list[BenchError] = []
    for task in tasks.values():
        try:
            bench.refresh_questions(task.name)
            bench.materialize(dg.AssetSelection.assets(audit_key(task)))
            rows += bench.tables.read(audit_key(task).path, AuditRow)
        except BenchError as why:
            failures.append(why)
    return rows, failures
