"""Quick evaluation of a checkpoint: every task on a few of its questions.

Responses are cached, so that the full evaluation requests only the rest.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256

import dagster as dg

from bench_assets.asset_factory.configured_runner import (
    configured_responses,
    configured_runner,
    configured_verdicts,
)
from bench_assets.asset_factory.evaluation_tables import count_rejections, questions_key
from bench_assets.asset_factory.suite_assets import MODELS, StepModels
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

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

    Sampled by a digest of the group's id, so that adding or removing questions changes few of the
    others.
    """
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.group_id or question.question_id].append(question)
    sampled: set[str] = set()
    for name in sorted(groups, key=lambda name: sha256(name.encode()).digest()):
        if len(sampled) >= n:
            break
        sampled |= {question.question_id for question in groups[name]}
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
            f"One row: one metric of {task.display_title} on the questions of a checkpoint's quick "
            "evaluation (`first` in [checkpoints] of bench.toml). Not comparable with the metrics "
            "on all questions."
        ),
    )
    def quick_evaluation(
        context: dg.AssetExecutionContext,
        models: Models,
        settings: dg.ResourceParam[Settings],
        tables: TableFiles,
        questions: list[Question],
    ) -> dg.Output[list[Metric]]:
        subset = first_questions(questions, settings.checkpoints.first)
        opened, name = StepModels(context, models), context.partition_key
        judge = settings.suite(task.suite, SuiteSettings).judge
        runner = configured_runner(
            task,
            settings,
            configured_responses(task, models, name, partial(opened.open, name)),
            configured_verdicts(task, models, judge, StepModels(context, models).open, name),
        )
        evaluation = replace(
            runner, complete=True, n_rejected=count_rejections(tables, task, questions)
        ).run(subset)
        return table_output(list(evaluation.metrics), opened.metadata())

    return quick_evaluation
