"""Full evaluations of suites, stored in the tables of the home."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bench_assets.annotation.answers.progress import AnnotationProgress
from bench_assets.annotation.responses.verdicts import PEOPLE
from bench_assets.annotation.tasks import OpenVerdictsError
from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.evaluation.task import Task, TaskEvaluation
from bench_assets.features import hook_of
from bench_assets.workspace.materialization.backfill import (
    build_questions,
    outcome_messages,
    rejection_messages,
)
from bench_assets.workspace.materialization.dagster_instance import FailedCheckError
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEvaluation:
    """Metrics of a suite, and errors of tasks that were not evaluated."""

    names: Sequence[str]  # the suite, or those of its tasks whose questions could be built
    metrics: Sequence[Metric]
    outcomes: Sequence[str]  # a sentence for each irregular outcome, see ``outcome_messages``
    rejected: Sequence[str]  # a sentence for each task with rejected source rows
    failures: Sequence[BenchError]


def evaluate_suite(
    bench: Workbench, suite: str, askings: Sequence[tuple[str, str]]
) -> SuiteEvaluation:
    """Build a suite's questions, and evaluate models on all of them.

    Args:
        bench: The home folder.
        suite: Suite or task.
        askings: Pairs of a model and a condition.

    Raises:
        OpenVerdictsError: If people judge, and verdicts on some responses are missing.
        BenchError: If a model cannot be opened, or no questions can be built.
    """
    names, failures = build_questions(bench, suite)
    metrics: list[Metric] = []
    waits = Counter[str]()
    for name, one in askings:
        try:
            bench.evaluate(names, name, one)
        except FailedCheckError:  # after other errors, the stored judgements would be old ones
            if not (more := _open_verdicts(bench, names, name)):
                raise
            waits.update(more)
            continue
        metrics += [row for part in names for row in bench.metrics(part, name, one)]
    if waits:
        raise OpenVerdictsError(_publish_verdicts(bench, waits))
    return SuiteEvaluation(
        names=names,
        metrics=metrics,
        outcomes=[
            sentence
            for part, (name, one) in itertools.product(names, askings)
            for sentence in outcome_messages(bench, part, name, one)
        ],
        rejected=[
            sentence
            for part in names
            for sentence in rejection_messages(bench, part, [one for _, one in askings])
        ],
        failures=failures,
    )


def _open_verdicts(bench: Workbench, names: Sequence[str], model: str) -> dict[str, int]:
    """Number of a model's responses without a human verdict, by task."""
    found: dict[str, int] = {}
    for task in (one for name in names for one in bench.catalog.tasks_of(name)):
        key = evaluation_key(task, "main", "judgements")
        rows = bench.tables.read(key, Judgement, model) if bench.tables.exists(key, model) else []
        if n := sum(row.judge == PEOPLE and bool(row.error) for row in rows):
            found[task.name] = n
    return found


def _publish_verdicts(bench: Workbench, waits: Mapping[str, int]) -> str:
    """Publish the responses that need human verdicts; returns their numbers and the next steps.

    Verdicts are collected when the evaluation runs again.
    """
    publish = hook_of("publish units", "people as judges")
    sentences = []
    for name, n in waits.items():
        form = bench.catalog.task(name).response_tasks[0].task.name
        row: AnnotationProgress = publish(bench, form, datetime.now(UTC))
        deadline = bench.settings.annotation.tasks[form].until
        sentences.append(
            f"{name}: {n} responses need human verdicts; {form} lacks {row.lacking}"
            f" answers{f' by {deadline}' if deadline else ''}."
            f" {_how_to_answer(bench.settings, form)}"
        )
    return " ".join([*sentences, "Then run the same command again; cached responses are reused"])


def _how_to_answer(settings: Settings, form: str) -> str:
    if settings.annotation.kind == "pages":
        return f"Run `bench annotate links --task {form} --person NAME` and `bench annotate serve`."
    folder = settings.home / "annotation" / form
    return f"The units are in {folder / 'units.jsonl'}; write answers to answers.jsonl beside it."


def stored_evaluations(
    bench: Workbench, suites: Sequence[str], model: str, condition: str
) -> list[TaskEvaluation]:
    """Read the stored tables of an evaluation, task by task.

    Raises:
        TableError: If a table is missing or damaged.
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
