"""Looks up a number by task and model, or by signature."""

from collections.abc import Sequence

from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.bundles.requirements import NumberRef
from bench_assets.comparison.sides import is_signature
from bench_assets.core.schema.errors import SettingsError, TableError, UnknownNameError
from bench_assets.core.schema.rows import Metric
from bench_assets.core.schema.signature import Signature
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.tables.parquet import TableFiles


def find_number(bench: Workbench, named: Sequence[str], condition: str) -> NumberRef:
    """Find the number that a command names.

    Raises:
        UnknownNameError: If there is no such task, or the model was not evaluated on it.
        SettingsError: If the arguments have none of these forms.
    """
    match list(named):
        case [task, model]:
            return _find_by_model(bench, task, model, condition)
        case [signature] if is_signature(signature):
            return _find_by_signature(bench, signature)
    raise SettingsError(f"{' '.join(named)!r}: expected TASK MODEL, or a signature in quotes")


def _find_by_model(bench: Workbench, task_name: str, model: str, condition: str) -> NumberRef:
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
            return _number(rows[0].signature, model, rows, tables)
    known = {partition for tables in places for partition in tables.partitions(key)}
    raise UnknownNameError(f"model evaluated on {tasks[0].name}, {condition},", model, known)


def _find_by_signature(bench: Workbench, text: str) -> NumberRef:
    signature = Signature.parse(text)
    tasks = [task for task in bench.catalog.tasks if task.name == signature.task]
    for task in tasks:
        if signature.condition not in task.conditions:
            continue
        key = evaluation_key(task, signature.condition, "metrics")
        for tables in (bench.tables, *bench.tables.elsewhere(task.suite)):
            for model in tables.partitions(key):
                rows = _read_metrics(tables, key, model)
                if rows and rows[0].signature == text:
                    return _number(text, model, rows, tables)
    return _number(text, "", [], bench.tables)


def _number(text: str, model: str, rows: Sequence[Metric], tables: TableFiles) -> NumberRef:
    return NumberRef(
        text=text, signature=Signature.parse(text), model=model, metrics=rows, tables=tables
    )


def _read_metrics(tables: TableFiles, key: Sequence[str], model: str) -> list[Metric]:
    try:
        return tables.read(key, Metric, model)
    except TableError:  # `bench home verify` reports it
        return []
