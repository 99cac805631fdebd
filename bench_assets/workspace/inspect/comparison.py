"""What ``bench diff`` compares: two models, conditions, files of metrics or signatures."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from bench_assets.comparison.difference import Cause, difference
from bench_assets.comparison.side import Side
from bench_assets.comparison.sides import is_signature, places, side_of
from bench_assets.core.schema.errors import SettingsError, TableError
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization.workbench import Workbench


class EvaluationPair(NamedTuple):
    """Two evaluations of a task, and why they differ."""

    task: Task
    before: Side
    after: Side
    causes: list[Cause]


def differing(  # noqa: PLR0913  (an option each)
    bench: Workbench,
    before: str,
    after: str,
    *,
    suite: str = "",
    model: str = "",
    condition: str = "main",
    metric: str = "",
    left_out: list[TableError],
) -> Iterator[EvaluationPair]:
    """Compare two evaluations, task by task, of those that have both.

    Args:
        bench: The home.
        before: A model, a condition, a file of metrics, or a signature.
        after: Another.
        suite: Only it, or one task of it.
        model: Whose conditions are compared.
        condition: Of the models that are compared.
        metric: Instead of each task's primary one.
        left_out: Is told of tasks with a table that is not as it was written, and why.

    Raises:
        UnknownNameError: If nothing of a name was evaluated.
        SettingsError: If no task has both.
    """
    tasks = bench.catalog.tasks_of(suite) if suite else bench.catalog.tasks
    whose = model or next((one for one in (before, after) if _is_model(one, tasks)), "")
    old, new = (_sides(bench, named, tasks, whose, condition) for named in (before, after))
    for task in _in_both(bench, before, old, after, new):
        if metric and metric not in task.measures:
            continue
        try:
            sides = old[task.name](), new[task.name]()
        except TableError as why:
            left_out.append(why)
        else:
            yield EvaluationPair(task, *sides, difference(task, *sides, metric))


def _in_both(
    bench: Workbench, before: str, old: Collection[str], after: str, new: Collection[str]
) -> list[Task]:
    """The tasks of both sides, in the order of the first.

    Raises:
        SettingsError: If there is none.
    """
    tasks = {task.name: task for task in bench.catalog.tasks}
    if not (both := [tasks[name] for name in old if name in new]):
        raise SettingsError(
            f"no task has both: {before} was evaluated on {', '.join(old) or 'none'}; {after} on"
            f" {', '.join(new) or 'none'}"
        )
    return both


def _sides(
    bench: Workbench, named: str, tasks: Sequence[Task], model: str, condition: str
) -> dict[str, Callable[[], Side]]:
    """Task -> what reads its side: one table that is damaged is that task's matter."""
    if is_signature(named):
        task, side = side_of(named, bench.tables, bench.catalog)
        return {task.name: lambda: side}
    found = places(named, bench.tables, tasks, model, condition)
    return {place.task.name: place.read for place in found}


def _is_model(named: str, tasks: Sequence[Task]) -> bool:
    conditions = {name for task in tasks for name in task.conditions}
    return not (is_signature(named) or named.endswith(".parquet") or named in conditions)
