"""Evaluations stored in the tables of a home."""

from collections.abc import Sequence

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.core.schema.rows import Prediction, Question, Score
from bench_assets.evaluation.task import Task
from bench_assets.evaluation.task_evaluation import TaskEvaluation
from bench_assets.workspace.materialization.workbench import Workbench


def stored_evaluations(
    bench: Workbench, suites: Sequence[str], model: str, condition: str
) -> list[TaskEvaluation]:
    """Read the stored tables of an evaluation, task by task.

    Raises:
        TableError: If a table is missing, or is not as it was written.
    """
    tasks = [task for name in suites for task in bench.catalog.tasks_of(name)]
    return [
        _stored(bench, task, model, condition)
        for task in tasks
        if bench.tables.exists(evaluation_key(task, condition, "metrics"), model)
    ]


def _stored(bench: Workbench, task: Task, model: str, condition: str) -> TaskEvaluation:
    read = bench.tables.rows
    return TaskEvaluation(
        task=task,
        model=model,
        condition=condition,
        questions=read(questions_key(task, condition), Question),
        predictions=read(evaluation_key(task, condition, "predictions"), Prediction, model),
        scores=read(evaluation_key(task, condition, "scores"), Score, model),
        metrics=bench.metrics(task.name, model, condition),
    )
