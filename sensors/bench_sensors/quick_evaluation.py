"""Quick evaluation of a checkpoint: every task on a few of its questions.

Responses are cached, so that the full evaluation requests only the rest.
"""

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import questions_key
from bench_assets.asset_factory.evaluation_steps import run_judge
from bench_assets.asset_factory.suite_assets import MODELS, open_model
from bench_assets.core.schema.rows import Judgement, Metric, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.outcomes import accept_refusals, require_responses
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task
from bench_resources.config.settings_resource import SettingsResource
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import table_output

QUICK_EVALUATION = "quick_evaluation"
"""Name of the tables, of their group and of the job."""


def quick_evaluation_assets(tasks: Sequence[Task]) -> list[dg.AssetsDefinition]:
    """Build the quick evaluation of every task of models."""
    return [_quick_evaluation(task) for task in tasks if task.asked_of == "model"]


def quick_evaluation_key(task: Task) -> dg.AssetKey:
    """Asset key of a task's quick evaluation."""
    return dg.AssetKey([*task.name.split("/"), QUICK_EVALUATION])


def first_questions(questions: Sequence[Question], n: int) -> list[Question]:
    """Sample at least ``n`` questions in whole groups, in the order of the table; all if fewer.

    Sampled by a digest of the group's id, so that adding or editing a question does not change
    whether others are sampled.
    """
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.group_id or question.question_id].append(question)
    sampled: set[str] = set()
    for _, group in sorted(groups.items(), key=lambda item: sha256(item[0].encode()).digest()):
        if len(sampled) >= n:
            break
        sampled |= {question.question_id for question in group}
    return [question for question in questions if question.question_id in sampled]


def _quick_evaluation(task: Task) -> dg.AssetsDefinition:
    @dg.asset(
        key=quick_evaluation_key(task),
        ins={"questions": dg.AssetIn(questions_key(task, "main"))},
        partitions_def=MODELS,
        group_name=QUICK_EVALUATION,
        kinds={"gpu"},
        tags={"bench/stage": "metrics"},
        pool="gpu",
        code_version=str(task.version),
        description=(
            f"One row: one metric of {task.shown} on the questions of a checkpoint's quick "
            "evaluation (`first` in [checkpoints] of bench.toml). Not comparable with the metrics "
            "on all questions."
        ),
    )
    def quick_evaluation(
        context: dg.AssetExecutionContext,
        models: Models,
        settings: SettingsResource,
        questions: list[Question],
    ) -> dg.Output[list[Metric]]:
        loaded = settings.load()
        chosen = loaded.suite(task.suite, SuiteSettings)
        subset = first_questions(questions, loaded.checkpoints.first)
        with open_model(context, models, context.partition_key) as (model, progress):
            predicted = pipeline.predict(task, subset, model)
        predictions = [accept_refusals(row, chosen.accept) for row in predicted]
        require_responses(task.name, "questions", predictions, chosen.accept)
        judgements: Sequence[Judgement] = []
        if task.is_judged:
            judgements, _ = run_judge(context, models, task, chosen.judge, subset, predictions)
        require_responses(task.name, "verdicts", judgements, chosen.accept)
        scores = pipeline.score(task, subset, predictions, judgements, chosen.scorer)
        rows = pipeline.summarise(task, subset, predictions, scores)
        return table_output(rows, progress.metadata())

    return quick_evaluation
