"""A cheap first look at a checkpoint: every task on a few of its questions.

The replies are remembered, so that the whole evaluation afterwards asks only the rest.
"""

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256

import dagster as dg

from bench_assets import flow
from bench_assets.core.errors import ModelError
from bench_assets.core.rows import Judgement, Metric, Prediction, Question
from bench_assets.evaluation import questions_key
from bench_assets.partitions import MODELS
from bench_assets.task import Task
from resources.models import Models
from resources.progress import AskingProgress
from resources.settings import Settings, SuiteSettings
from resources.settings_file import SettingsFile
from resources.tables import table_output

FIRST_LOOK = "first_look"
"""Name of the tables, of their group and of the job."""


def first_look_assets(tasks: Sequence[Task]) -> list[dg.AssetsDefinition]:
    """Build the first look of every task that is asked of models."""
    return [_first_look(task) for task in tasks if task.asked_of == "model"]


def first_look_key(task: Task) -> dg.AssetKey:
    """Asset key of a task's first look."""
    return dg.AssetKey([*task.name.split("/"), FIRST_LOOK])


def first_questions(questions: Sequence[Question], n: int) -> list[Question]:
    """Draw at least ``n`` questions, whole groups, in the order of the table; all if it has fewer.

    Drawn by a digest of the group's id: a question is drawn or not whatever else is in the table,
    so that one that is added or edited changes nothing for the others.
    """
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.group_id or question.question_id].append(question)
    drawn: set[str] = set()
    for _, group in sorted(groups.items(), key=lambda item: sha256(item[0].encode()).digest()):
        if len(drawn) >= n:
            break
        drawn |= {question.question_id for question in group}
    return [question for question in questions if question.question_id in drawn]


def _first_look(task: Task) -> dg.AssetsDefinition:
    @dg.asset(
        key=first_look_key(task),
        ins={"questions": dg.AssetIn(questions_key(task, "main"))},
        partitions_def=MODELS,
        group_name=FIRST_LOOK,
        kinds={"gpu"},
        tags={"bench/stage": "metrics"},
        pool="gpu",
        code_version=str(task.version),
        description=(
            f"One row: one metric of {task.title} over the few questions that a checkpoint is "
            "asked first (`first` in [checkpoints] of bench.toml). Not comparable with the metrics "
            "of the whole table."
        ),
    )
    def first_look(
        context: dg.AssetExecutionContext,
        models: Models,
        settings: SettingsFile,
        questions: list[Question],
    ) -> dg.Output[list[Metric]]:
        loaded = settings.load()
        few = first_questions(questions, loaded.checkpoints.first)
        title = f"{context.partition_key}: {'/'.join(context.asset_key.path)}"
        with (
            AskingProgress(title, context.log.info, bar=models.show_progress) as progress,
            models.open(context.partition_key, "main", progress, progress.throughput) as model,
        ):
            predictions = flow.predict(task, few, model)
        if failed := [row for row in predictions if row.error]:
            raise ModelError(
                f"{len(failed)} of {len(few)} questions without a reply; materialize again to ask "
                f"them: {failed[0].question_id}: {failed[0].error}"
            )
        judgements = _judgements(task, few, predictions, models, loaded)
        reading = loaded.suite(task.suite, SuiteSettings).reading
        scores = flow.score(task, few, predictions, judgements, reading)
        return table_output(flow.summarise(task, few, predictions, scores), progress.metadata())

    return first_look


def _judgements(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    models: Models,
    settings: Settings,
) -> list[Judgement]:
    if task.judge is None and task.judge_by_rules is None:
        return []
    judge = settings.suite(task.suite, SuiteSettings).judge
    if judge == "rules":
        return flow.judge(task, questions, predictions, None)
    with models.open(judge) as model:
        return flow.judge(task, questions, predictions, model)
