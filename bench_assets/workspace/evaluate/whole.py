"""Full evaluations of suites, stored in the tables of the home."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bench_assets.annotation.tasks import PEOPLE, OpenVerdictsError
from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.evaluation.task import Evaluation, Task
from bench_assets.workspace.evaluate.open_verdicts import publish_verdicts
from bench_assets.workspace.materialization.backfill import (
    build_questions,
    outcome_messages,
    rejection_messages,
)
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.runs.failures import FailedCheckError


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEvaluation:
    """Metrics of a suite, and errors of tasks that were not evaluated."""

    names: Sequence[str]  # the suite, or those of its tasks whose questions could be built
    metrics: Sequence[Metric]
    outcomes: Sequence[str]  # a sentence for each irregular outcome, see ``outcome_messages``
    rejected: Sequence[str]  # a sentence for each task with rejected source rows
    failures: Sequence[BenchError]


def evaluate_suite(
    bench: Workbench, suite: str, runs: Sequence[tuple[str, str]]
) -> SuiteEvaluation:
    """Build a suite's questions, and evaluate models on all of them.

    Raises:
        OpenVerdictsError: If people judge, and verdicts on some responses are missing.
        BenchError: If no questions can be built, or as ``Workbench.evaluate``.
    """
    names, failures = build_questions(bench, suite)
    metrics: list[Metric] = []
    n_unjudged = Counter[str]()
    for model, condition in runs:
        try:
            bench.evaluate(names, model, condition)
        except FailedCheckError:  # after other errors, the stored judgements would be old ones
            model_counts = _count_unjudged(bench, names, model)
            if not model_counts:
                raise
            n_unjudged.update(model_counts)
            continue
        metrics += [row for name in names for row in bench.metrics(name, model, condition)]
    if n_unjudged:
        raise OpenVerdictsError(publish_verdicts(bench, n_unjudged))
    outcomes: list[str] = []
    rejected: list[str] = []
    for name in names:
        for model, condition in runs:
            outcomes += outcome_messages(bench, name, model, condition)
        rejected += rejection_messages(bench, name, [condition for _, condition in runs])
    return SuiteEvaluation(
        names=names, metrics=metrics, outcomes=outcomes, rejected=rejected, failures=failures
    )


def _count_unjudged(bench: Workbench, names: Sequence[str], model: str) -> dict[str, int]:
    """Count a model's responses without a human verdict, by task; people judge only main."""
    counts: dict[str, int] = {}
    tasks = [task for name in names for task in bench.catalog.tasks_of(name)]
    for task in tasks:
        key = evaluation_key(task, "main", "judgements")
        rows = bench.tables.read(key, Judgement, model) if bench.tables.exists(key, model) else []
        if n := sum(row.judge == PEOPLE and bool(row.error) for row in rows):
            counts[task.name] = n
    return counts


def stored_evaluations(
    bench: Workbench, suites: Sequence[str], model: str, condition: str
) -> list[Evaluation]:
    """Read the stored tables of an evaluation, task by task; tasks without metrics are left out.

    Raises:
        TableError: If a table is missing or damaged.
    """
    tasks = [task for name in suites for task in bench.catalog.tasks_of(name)]
    return [
        _read_evaluation(bench, task, model, condition)
        for task in tasks
        if bench.tables.exists(evaluation_key(task, condition, "metrics"), model)
    ]


def _read_evaluation(bench: Workbench, task: Task, model: str, condition: str) -> Evaluation:
    tables = bench.tables
    return Evaluation(
        task=task,
        model=model,
        condition=condition,
        questions=tables.read(questions_key(task, condition), Question),
        predictions=tables.read(evaluation_key(task, condition, "predictions"), Prediction, model),
        scores=tables.read(evaluation_key(task, condition, "scores"), Score, model),
        metrics=bench.metrics(task.name, model, condition),
    )
