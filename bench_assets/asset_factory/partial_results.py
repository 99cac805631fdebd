"""Results over a subset of the questions: ``--limit``, runs in progress, interrupted runs.

They are stored in separate tables below ``partial/`` of the home, which the report and
``bench explain`` read.
"""

import logging
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench_assets.annotation.tasks import PEOPLE
from bench_assets.asset_factory.configured_runner import configured_runner
from bench_assets.asset_factory.evaluation_tables import (
    constants_key,
    count_rejections,
    evaluation_key,
    read_judged_responses,
)
from bench_assets.asset_factory.suite_assets import ModelSession
from bench_assets.core.schema.chat import cached
from bench_assets.core.schema.errors import BenchError, TableError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import with_partial
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.evaluation.baselines.blind_baselines import BestConstant, best_constants
from bench_assets.evaluation.runner import (
    Baselines,
    GeneratedResponses,
    RuleVerdicts,
    Runner,
    StoredResponses,
    StoredVerdicts,
)
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Evaluation, Task
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import tables_of
from bench_resources.tables.parquet import TableFiles

FOLDER = "partial"
SO_FAR = "so far"  # end of the part of an evaluation in progress

_MAX_QUESTIONS = 50_000  # questions; larger runs in progress are not shown
_MIN_INTERVAL = 5.0  # seconds between two snapshots of a run in progress, at least
_PAUSE_RATIO = 20  # times a snapshot's duration between two snapshots: slows the run by at most 5 %
_LOG = logging.getLogger("bench_assets.report")


def partial_tables(home: Path) -> TableFiles:
    """The tables of partial results of a home."""
    return TableFiles(folder=str(home / FOLDER))


def as_partial(evaluation: Evaluation, part: str) -> Evaluation:
    """Mark an evaluation, and the signatures of its metrics, with the part of the questions."""
    metrics = [
        replace(metric, signature=with_partial(metric.signature, part))
        for metric in evaluation.metrics
    ]
    return replace(evaluation, metrics=metrics, partial=part)


def write_partial(home: Path, evaluation: Evaluation) -> None:
    """Write a partial evaluation, replacing an earlier one of the model.

    Raises:
        HomeError: If it cannot be written.
    """
    tables, task = partial_tables(home), evaluation.task
    for table, rows, row_type in (
        ("predictions", evaluation.predictions, Prediction),
        ("judgements", evaluation.judgements, Judgement),
        ("scores", evaluation.scores, Score),
        ("metrics", evaluation.metrics, Metric),
    ):
        if table != "judgements" or task.has_judgements:
            key = evaluation_key(task, evaluation.condition, table)
            tables.write(key, rows, row_type, evaluation.model)


def run_part(
    runner: Runner,
    tables: TableFiles,
    questions: Sequence[Question],
    all_questions: Sequence[Question],
) -> Evaluation:
    """Evaluate some questions of a table; raises as ``runner.run``.

    Blind baselines use the verdicts on all of its questions.
    """
    keys = partial(evaluation_key, runner.task, runner.condition)
    n_rejected = count_rejections(tables, runner.task, all_questions, runner.condition)
    baselines = Baselines(
        find_judged_responses=partial(read_judged_responses, tables, keys, all_questions)
    )
    return replace(runner, baselines=baselines, n_rejected=n_rejected).run(questions)


def store_part(
    settings: Settings, evaluation: Evaluation, questions: Sequence[Question], part: str
) -> Evaluation:
    """Write an evaluation as a partial one, with the task's further metrics; returns it."""
    if measure := evaluation.task.measure_beside:
        metrics = measure(settings, evaluation.model, questions, evaluation.predictions)
        evaluation = replace(evaluation, metrics=[*evaluation.metrics, *metrics])
    partial_evaluation = as_partial(evaluation, part)
    write_partial(settings.home, partial_evaluation)
    return partial_evaluation


@contextmanager
def snapshot_while_running(
    settings: Settings,
    task: Task,
    condition: str,
    questions: Sequence[Question],
    session: ModelSession,
    responses: GeneratedResponses,
) -> Generator[None]:
    """Store the responses so far as a partial evaluation: regularly, and if the run ends early.

    They are also stored at its end if a judge model or people have yet to judge. Nothing is stored
    of more than ``_MAX_QUESTIONS``.
    """
    if len(questions) > _MAX_QUESTIONS:
        yield
        return
    model, progress = session
    cached_responses = replace(responses, open=lambda: nullcontext(cached(model)))
    write = partial(_write_snapshot, settings, task, condition, questions, cached_responses)

    def write_or_warn() -> None:
        try:
            write()
        except BenchError as error:  # the run itself goes on
            _LOG.warning("%s, %s: not shown in progress: %s", model.name, task.name, error)

    progress.on_arrival = _throttle(write_or_warn)
    is_complete = False
    try:
        yield
        is_complete = not task.is_judged or bool(_judging_rules(settings, task))
    finally:
        progress.on_arrival = None
        if not is_complete:
            with suppress(BenchError):  # the model has already raised its own error
                write()


def _throttle(action: Callable[[], None]) -> Callable[[], None]:
    """Make a function that calls the action, but not at first, nor soon after the last time."""
    due = time.monotonic() + _MIN_INTERVAL

    def call_if_due() -> None:
        nonlocal due
        start = time.monotonic()
        if start < due:
            return
        action()
        end = time.monotonic()
        due = end + max(_MIN_INTERVAL, _PAUSE_RATIO * (end - start))

    return call_if_due


def _write_snapshot(
    settings: Settings,
    task: Task,
    condition: str,
    questions: Sequence[Question],
    responses: GeneratedResponses,
) -> None:
    """Score and store the cached responses of complete clusters of questions, if there are any.

    Only rules judge; verdicts of a judge model or of people are missing until the run is complete.
    """
    rules = _judging_rules(settings, task)
    runner = configured_runner(
        task,
        settings,
        responses,
        RuleVerdicts(rules) if rules else StoredVerdicts(),
        condition=condition,
    )
    all_predictions = runner.predictions(questions)
    clusters = cluster_questions(questions)
    incomplete_clusters = {clusters[row.question_id] for row in all_predictions if row.error}
    complete = [q for q in questions if clusters[q.question_id] not in incomplete_clusters]
    if not complete:
        return
    complete_ids = {question.question_id for question in complete}
    stored = StoredResponses([row for row in all_predictions if row.question_id in complete_ids])
    constants = partial(_subset_constants, settings, condition)
    runner = replace(runner, responses=stored, baselines=Baselines(constants=constants))
    evaluation = runner.run(complete)
    write_partial(
        settings.home,
        as_partial(evaluation, f"{len(complete)} of {len(questions)} questions {SO_FAR}"),
    )


def _subset_constants(
    settings: Settings, condition: str, task: Task, questions: Sequence[Question]
) -> list[BestConstant]:
    """Best constant responses to some questions, among those that are best on the whole table.

    Trying all would take longer than the snapshot. [] if those of the whole table are not known.
    """
    tables, key = tables_of(settings), constants_key(task, condition)
    with suppress(TableError):
        constants = tables.read(key, BestConstant) if tables.exists(key) else []
        responses = list(dict.fromkeys(constant.response for constant in constants))
        if responses:
            return best_constants(task, questions, responses)
    return []


def _judging_rules(settings: Settings, task: Task) -> str:
    """Name of the rules that judge the task; "" if a model, people or nobody does."""
    suite_settings = settings.suite(task.suite, SuiteSettings)
    judge = task.asked_judge(suite_settings.judge, suite_settings.scorer)
    return "" if judge.model or judge.name == PEOPLE else judge.name
