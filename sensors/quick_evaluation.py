"""A cheap first look at a checkpoint: every task on a few of its questions.

The responses are remembered, so that the whole evaluation afterwards asks only the rest.
"""

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import questions_key
from bench_assets.asset_factory.evaluation_steps import judged
from bench_assets.asset_factory.partitions import MODELS
from bench_assets.asset_factory.suite_assets import asking
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task
from resources.config.settings_resource import SettingsFile
from resources.models.registry.opening import Models
from resources.tables.parquet import TableFiles, table_output
from sensors.early_stopping import verdict

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
            f"One row: one metric of {task.shown} over the few questions that a checkpoint is "
            "asked first (`first` in [checkpoints] of bench.toml). Not comparable with the metrics "
            "of the whole table."
        ),
    )
    def first_look(
        context: dg.AssetExecutionContext,
        models: Models,
        settings: SettingsFile,
        tables: TableFiles,
        questions: list[Question],
    ) -> dg.Output[list[Metric]]:
        loaded = settings.load()
        chosen = loaded.suite(task.suite, SuiteSettings)
        few = first_questions(questions, loaded.checkpoints.first)
        with asking(context, models, context.partition_key) as (model, progress):
            predictions = pipeline.predict(task, few, model)
        _require_responses("questions", predictions)
        judgements: Sequence[Judgement] = []
        if task.is_judged:
            judgements, _ = judged(context, models, task, chosen.judge, few, predictions)
        _require_responses("verdicts", judgements)
        scores = pipeline.score(task, few, predictions, judgements, chosen.reading)
        said = {"verdict": verdict(task, few, predictions, scores, tables)}
        rows = pipeline.summarise(task, few, predictions, scores)
        return table_output(rows, {**progress.metadata(), **said})

    return first_look


def _require_responses(what: str, rows: Sequence[Prediction | Judgement]) -> None:
    """Refuse to score what was not asked, or not judged, as the checks of an evaluation do."""
    if failed := [row for row in rows if row.error]:
        raise ModelError(
            f"{len(failed)} of {len(rows)} {what} without a response; materialize again to ask "
            f"them: {failed[0].question_id}: {failed[0].error}"
        )
