"""Results over a subset of the questions: ``--limit``, runs in progress, interrupted runs.

They are stored in separate tables below ``partial/`` of the home, which only the report reads.
"""

import logging
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from bench_assets.asset_factory.suite_assets import AssetFolder, ModelSession
from bench_assets.core.schema.chat import ChatModel, cached
from bench_assets.core.schema.errors import BenchError, TableError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature
from bench_assets.core.stats.paired_tests import cluster_questions
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.blind_baselines import (
    BestConstant,
    best_constants,
    metrics_with_baselines,
)
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import RULES, Task, TaskEvaluation
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import table_locations
from bench_resources.tables.parquet import TableFiles

CONSTANTS = "constants"
"""Name of the table of best constant responses, beside the questions."""

FOLDER = "partial"

_MAX_QUESTIONS = 50_000  # questions; larger runs in progress are not shown
_MIN_INTERVAL = 5.0  # seconds between two snapshots of a run in progress, at least
_SHARE = 20  # snapshot durations between two snapshots: slows the run by at most 5 %
_LOG = logging.getLogger("bench_assets.report")


def partial_tables(home: Path) -> TableFiles:
    """The tables of partial results of a home."""
    return TableFiles(folder=str(home / FOLDER))


def mark_partial(rows: Sequence[Metric], said: str) -> list[Metric]:
    """Add the evaluated part of the questions to the signatures of metrics."""
    return [replace(row, signature=f"{row.signature}|partial:{said}") for row in rows]


def partial_part(signature: str) -> str:
    """The evaluated part of the questions; "" for all, or if unknown.

    >>> partial_part("t|v1|main|data:0c|model:m|n:2|partial:2 of 4 questions")
    '2 of 4 questions'
    """
    try:
        return Signature.parse(signature).parts.get("partial", "")
    except TableError:
        return ""


def write_partial(home: Path, one: TaskEvaluation, judgements: Sequence[Judgement]) -> None:
    """Write a partial evaluation, replacing an earlier one of the model.

    Raises:
        HomeError: If it cannot be written.
    """
    tables, asset_folder = partial_tables(home), AssetFolder(one.task.name)
    prefix = "" if one.condition == "main" else f"{one.condition}/"

    def write(table: str, rows: Sequence[object], row_type: type[object]) -> None:
        tables.write(asset_folder.key(f"{prefix}{table}").path, rows, row_type, one.model)

    write("predictions", one.predictions, Prediction)
    if one.task.is_judged:
        write("judgements", judgements, Judgement)
    write("scores", one.scores, Score)
    write("metrics", [_as_metric(row) for row in one.metrics], Metric)


def _as_metric(row: Metric) -> Metric:
    """Convert a row of a subclass to ``Metric``, the type of the table."""
    return Metric(**{name: getattr(row, name) for name in Metric.__dataclass_fields__})


@contextmanager
def snapshot_while_running(
    settings: Settings,
    task: Task,
    condition: str,
    questions: Sequence[Question],
    asked: ModelSession,
) -> Generator[None]:
    """Store the responses so far as a partial evaluation, regularly and if the run ends early.

    Args:
        settings: Settings of the home.
        task: The evaluated task.
        condition: The evaluated condition.
        questions: All questions of the run.
        asked: The model, and its progress.
    """
    model, progress = asked
    if len(questions) > _MAX_QUESTIONS:
        yield
        return

    def look() -> None:
        try:
            _write_snapshot(settings, task, condition, questions, model)
        except BenchError as error:  # the run itself goes on
            _LOG.warning("%s, %s: not shown in progress: %s", model.name, task.name, error)

    progress.on_arrival = _throttle(look)
    is_whole = False
    try:
        yield
        is_whole = not task.is_judged or _is_judged_by_rules(settings, task)
    finally:
        progress.on_arrival = None
        if not is_whole:
            with suppress(BenchError):  # the model has already raised its own error
                _write_snapshot(settings, task, condition, questions, model)


def _throttle(look: Callable[[], None]) -> Callable[[], None]:
    due = time.monotonic() + _MIN_INTERVAL

    def called() -> None:
        nonlocal due
        if (began := time.monotonic()) >= due:
            look()
            ended = time.monotonic()
            due = ended + max(_MIN_INTERVAL, _SHARE * (ended - began))

    return called


def _write_snapshot(
    settings: Settings,
    task: Task,
    condition: str,
    questions: Sequence[Question],
    model: ChatModel,
) -> None:
    """Score and store the cached responses, without incomplete clusters of questions."""
    all_predictions = pipeline.predict(task, questions, cached(model), condition)
    clusters = cluster_questions(questions)
    incomplete = {clusters[row.question_id] for row in all_predictions if row.error}
    complete = [one for one in questions if clusters[one.question_id] not in incomplete]
    if not complete:
        return
    ids = {one.question_id for one in complete}
    predictions = [row for row in all_predictions if row.question_id in ids]
    chosen = settings.suite(task.suite, SuiteSettings)
    by_rules = _is_judged_by_rules(settings, task)
    verdicts = pipeline.judge(task, complete, predictions, None, RULES) if by_rules else []
    scores = pipeline.score(task, complete, predictions, verdicts, chosen.scorer)
    constants = _subset_constants(settings, task, condition, complete)
    rows = metrics_with_baselines(task, complete, predictions, scores, constants)
    coverage = f"{len(complete)} of {len(questions)} questions so far"
    evaluation = TaskEvaluation(
        task=task,
        model=model.name,
        condition=condition,
        questions=complete,
        predictions=predictions,
        scores=scores,
        metrics=mark_partial(rows, coverage),
        partial=coverage,
    )
    write_partial(settings.home, evaluation, verdicts)


def _subset_constants(
    settings: Settings, task: Task, condition: str, few: Sequence[Question]
) -> list[BestConstant]:
    """Best constants on some questions, among the responses that are best in a cell on all.

    Trying all constant responses would take longer than the snapshot.
    """
    shared = settings.storage.shared
    tables = TableFiles(
        folder=str(settings.home / "tables"), places=table_locations(settings), **shared
    )
    own = f"{condition}/" if task.condition(condition).own_questions else ""
    key = AssetFolder(task.name).key(f"{own}{CONSTANTS}").path
    with suppress(TableError):
        known = tables.read(key, BestConstant) if tables.exists(key) else []
        if tried := dict.fromkeys(one.response for one in known):
            return best_constants(task, few, list(tried))
    return []


def _is_judged_by_rules(settings: Settings, task: Task) -> bool:
    """Whether rules judge the task, which is too quick to be interrupted."""
    judge = settings.suite(task.suite, SuiteSettings).judge
    return RULES in task.judges and not task.chosen_judge(judge).model
