"""The tasks of a suite one by one: what one of them lacks stops none of the others."""

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Score
from bench_assets.core.tables.large_tables import column
from bench_assets.workspace.materialization.workbench import Workbench


def refresh_each(bench: Workbench, suite: str) -> tuple[list[str], list[BenchError]]:
    """Build a suite's questions; where that fails, those of its tasks that can be built.

    Returns:
        The suite, or the tasks that have their questions; and what stopped the others.

    Raises:
        BenchError: If not one of them can be built.
    """
    try:
        bench.refresh_questions(suite)
    except BenchError as why:
        failures = [why]
    else:
        return [suite], []
    built = []
    for task in bench.catalog.tasks_of(suite):
        try:
            bench.refresh_questions(task.name)
        except BenchError as why:
            failures.append(why)
        else:
            has_questions = bench.tables.exists(questions_key(task, "main"))
            built += [task.name] if has_questions else []
    if not built:
        raise failures[0]
    return built, failures


def without_points(bench: Workbench, suite: str, model: str, condition: str = "main") -> list[str]:
    """Say of each task of which no answer has points why; nothing if some have."""
    tasks = bench.catalog.tasks_of(suite)
    keys = {task.name: evaluation_key(task, condition, "scores") for task in tasks}
    tables = {
        name: bench.tables.rows(key, Score, model)
        for name, key in keys.items()
        if bench.tables.exists(key, model)
    }
    return [
        f"{name}: no answer has points: {rows[0].note}"
        for name, rows in tables.items()
        if rows and all(points is None for points in column(rows, "points"))
    ]
