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
        UnknownNameError: If there is no such task, or the model was not evaluated on it.
        SettingsError: If a suite of several tasks is named.
    """
    tasks = [task for task in bench.catalog.tasks_of(task_name) if condition in task.conditions]
    if len(tasks) != 1:
        names = [task.name for task in bench.catalog.tasks_of(task_name)]
        for task in bench.catalog.tasks_of(task_name)[:1]:
            task.condition(condition)
        raise SettingsError(f"{task_name} has {len(tasks)} tasks, name one: {', '.join(names)}")
    key = evaluation_key(tasks[0], condition, "metrics")
    places = [bench.tables, *bench.tables.elsewhere(tasks[0].suite)]
    for tables in places:
        if tables.exists(key, model) and (rows := tables.read(key, Metric, model)):
            return NumberRef(
                task=tasks[0],
                signature=Signature.parse(rows[0].signature),
                model=model,
                metrics=rows,
                tables=tables,
            )
    known = {partition for tables in places for partition in tables.partitions(key)}
    raise UnknownNameError(f"model evaluated on {tasks[0].name}, {condition},", model, known)
