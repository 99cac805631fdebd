"""Full evaluations of suites, stored in the tables of the home."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.evaluation.task import Task
from bench_assets.evaluation.task_evaluation import TaskEvaluation
from bench_assets.workspace.materialization.backfill import (
    build_questions,
    outcome_messages,
    rejection_messages,
)
from bench_assets.workspace.materialization.workbench import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEvaluation:
    """Metrics of a suite, and errors of tasks that were not evaluated."""

    names: Sequence[str]  # the suite, or those of its tasks whose questions could be built
    metrics: Sequence[Metric]
    outcomes: Sequence[str]  # a sentence for what was not answered by one model, or not read
    rejected: Sequence[str]  # a sentence for each task of whose source rows are left out
    failures: Sequence[BenchError]


def evaluate_suite(
    bench: Workbench, suite: str, askings: Sequence[tuple[str, str]]
) -> SuiteEvaluation:
    """Build a suite's questions, and evaluate models on all of them.

    Args:
        bench: The home folder.
        suite: Suite or task.
        askings: Models with the condition under which each is asked.

    Raises:
        BenchError: If a model cannot be asked, or no questions can be built.
    """
    names, failures = build_questions(bench, suite)
    metrics: list[Metric] = []
    for name, one in askings:
        bench.evaluate(names, name, one)
        metrics += [row for part in names for row in bench.metrics(part, name, one)]
    return SuiteEvaluation(
        names=names,
        metrics=metrics,
        outcomes=[
            sentence
            for part, (name, one) in itertools.product(names, askings)
            for sentence in outcome_messages(bench, part, name, one)
        ],
        rejected=[sentence for part in names for sentence in rejection_messages(bench, part)],
        failures=failures,
    )


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
