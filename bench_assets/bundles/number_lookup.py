"""Looks up a number by task and model."""

from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.bundles.requirements import NumberRef
from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_assets.core.schema.rows import Metric
from bench_assets.core.schema.signature import Signature
from bench_assets.workspace.materialization.workbench import Workbench


def find_number(bench: Workbench, task_name: str, model: str, condition: str) -> NumberRef:
    """Find the number of a model, on any source.

    Raises:
        UnknownNameError: If there is no such task or condition, or the model was not evaluated.
        SettingsError: If a suite is named of which several tasks have the condition.
    """
    candidates = bench.catalog.tasks_of(task_name)
    tasks = [task for task in candidates if condition in task.conditions] or candidates
    if len(tasks) > 1:
        names = ", ".join(task.name for task in tasks)
        raise SettingsError(
            f"{task_name}: expected a task, got a suite of several. Name one: {names}"
        )
    task = tasks[0]
    task.condition(condition)  # raises if the task does not have it
    key = evaluation_key(task, condition, "metrics")
    sources = [bench.tables, *bench.tables.elsewhere(task.suite)]
    for tables in sources:
        rows = tables.read(key, Metric, model) if tables.exists(key, model) else []
        if rows:
            return NumberRef(
                task=task,
                signature=Signature.parse(rows[0].signature),
                model=model,
                metrics=rows,
                tables=tables,
            )
    evaluated_models = {model for tables in sources for model in tables.partitions(key)}
    raise UnknownNameError(f"model evaluated on {task.name}, {condition},", model, evaluated_models)
