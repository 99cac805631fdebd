"""Steps of the evaluation assets, around the pure pipeline."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial

import dagster as dg

from bench_assets.asset_factory.asset_metadata import results_page, results_table
from bench_assets.asset_factory.configured_runner import (
    configured_responses,
    configured_runner,
    configured_verdicts,
)
from bench_assets.asset_factory.evaluation_tables import CONSTANTS
from bench_assets.asset_factory.partial_results import snapshot_while_running
from bench_assets.asset_factory.suite_assets import AssetFolder, StepModels
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.evaluation.baselines.blind_baselines import (
    BestConstant,
    best_constants,
    chance_level,
)
from bench_assets.evaluation.runner import GeneratedResponses, StoredResponses
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import table_output


def run_predictions(
    context: dg.AssetExecutionContext,
    models: Models,
    task: Task,
    condition: str,
    questions: Sequence[Question],
) -> tuple[list[Prediction], dict[str, int | float]]:
    """Run the model of this partition; returns the rows and their metadata.

    Raises:
        BenchError: If the model cannot be called.
    """
    step_models = StepModels(context, models)
    responses = partition_responses(context, step_models, models, task, condition, questions)
    runner = configured_runner(task, models.settings, responses, condition=condition)
    return runner.predictions(questions), step_models.metadata()


def partition_responses(
    context: dg.AssetExecutionContext,
    step_models: StepModels,
    models: Models,
    task: Task,
    condition: str,
    questions: Sequence[Question],
) -> GeneratedResponses:
    """Responses of this partition's model, with snapshots while they are generated.

    The images that it will read are fetched now.

    Raises:
        UnknownNameError: If there is no such model.
    """
    name, settings = context.partition_key, models.settings
    models.fetch_images(name, (image for question in questions for image in question.images))

    @contextmanager
    def open_partition() -> Generator[ChatModel]:
        with (
            step_models.open_session(name, condition) as session,
            snapshot_while_running(settings, task, condition, questions, session, responses),
        ):
            yield session.model

    # Opening them starts snapshots, which score these responses by their name.
    responses = configured_responses(task, models, name, open_partition)
    return responses


def run_judge(
    context: dg.AssetExecutionContext,
    models: Models,
    task: Task,
    judge: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
) -> tuple[list[Judgement], dict[str, int | float]]:
    """Judge predictions with the configured judge; returns the rows and their metadata.

    Raises:
        BenchError: If the task has no such judge, or the judge cannot be called.
    """
    step_models = StepModels(context, models)
    evaluated = context.partition_key if context.has_partition_key else ""
    condition = predictions[0].condition if predictions else "main"
    open_judge = partial(step_models.open, condition=condition)
    verdicts = configured_verdicts(task, models, judge, open_judge, evaluated)
    rows = verdicts.judgements(task, questions, predictions)
    metadata = step_models.metadata()
    if metadata:  # not if rules judged
        metadata["responses_failed"] = sum(bool(row.error) for row in rows)
    return rows, metadata


def constants_asset(task: Task, below: str) -> dg.AssetsDefinition:
    """Build the asset that scores constant responses to a task's questions, without a model.

    ``below`` names the condition whose own questions they are; "" is the main one.
    """
    asset_folder = AssetFolder(task.name, "+".join((str(task.version), *task.extensions)))

    @dg.asset(
        name=CONSTANTS,
        ins=asset_folder.ins(questions=f"./{below}/questions"),
        description=(
            "One row: the value of the best constant response in one cell of the results, by a "
            "scorer of the task. A metric that is not better says nothing about images."
        ),
        op_tags={"dagster/priority": "-1"},  # only metrics read it: predictions run first
        **asset_folder.stage("constants", below=below),
    )
    def constants(questions: list[Question]) -> dg.Output[list[BestConstant]]:
        return table_output(best_constants(task, questions))

    return constants


def score_rows(
    task: Task,
    settings: Settings,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
) -> list[Score]:
    """Score one model's responses with the suite's scorer."""
    runner = configured_runner(task, settings, StoredResponses(predictions))
    return runner.scores(questions, predictions, judgements)


def metrics_output(
    task: Task, questions: Sequence[Question], rows: list[Metric]
) -> dg.Output[list[Metric]]:
    """Build the output of one model's metrics, with their values and a table as metadata.

    With the primary metric over all questions, it also has a page.
    """
    overall = {
        f"metric/{row.metric}": row.value
        for row in rows
        if row.category == "all" and row.n_scored > 0
    }
    metadata = {"table": dg.MetadataValue.md(results_table(rows))}
    if any(row.metric == task.primary_metric and row.category == "all" for row in rows):
        page = results_page(rows, task.primary_metric, chance_level(task, questions))
        metadata = {"results": dg.MetadataValue.md(page), **metadata}
    return table_output(rows, {**overall, **metadata})
