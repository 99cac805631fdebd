"""Evaluation assets of every benchmark: one asset per pipeline step, one partition per model."""

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import dagster as dg

from bench_assets.asset_factory.asset_metadata import throughput_metadata
from bench_assets.asset_factory.evaluation_steps import (
    constants_asset,
    metrics_output,
    run_judge,
    run_predictions,
    score_rows,
)
from bench_assets.asset_factory.evaluation_tables import (
    constants_key,
    count_rejections,
    evaluation_key,
    no_questions_error,
    read_constants,
    read_stored_judged_responses,
    rejection_tables,
)
from bench_assets.asset_factory.launchpad import Launch
from bench_assets.asset_factory.suite_assets import (
    MODEL_SETUP,
    PARTITIONS_BY_MODEL_KIND,
    AssetArguments,
    AssetFolder,
    Pool,
    StageName,
    judge_key,
    list_of,
    scorer_key,
)
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.evaluation.runner import Baselines, Runner, StoredResponses
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

_SCORES = (
    "One row: the points of one prediction and the answer parsed from it; no points "
    "where the judge or the connection failed."
)
_JUDGEMENTS = (
    "One row: one verdict of the judge on one prediction, or what a reader read from an unread "
    "one; the judge is a model of bench.toml or the suite's rules. An unreadable verdict is empty."
)


@dataclass(frozen=True, slots=True)
class EvaluationStep:
    """A task's questions under one condition, and the keys of their evaluation tables."""

    task: Task
    condition: str = "main"
    split: str = ""  # folder of another split, with its own questions and hidden answers
    is_study: bool = False  # grouped with the ablations, whatever the condition

    def stage(self, stage: StageName, pool: Pool | None = None) -> AssetArguments:
        """Arguments of ``dg.asset`` for a table."""
        version = "+".join((str(self.task.version), *self.task.extensions))
        arguments = AssetFolder(self.task.name, version).stage(
            stage,
            pool=pool,
            below=self._table_prefix,
            ablation=bool(self.is_study or self._table_prefix),
            partitions=PARTITIONS_BY_MODEL_KIND[self.task.asked_of],
        )
        if self.task.asked_of == "encoder":  # encoders answer none of the suite's other tasks
            arguments["group_name"] = self.task.name.replace("/", "_")
        return arguments

    def ins(self, *tables: str) -> dict[str, dg.AssetIn]:
        """Inputs of an asset: tables of this evaluation, including the questions."""
        has_own_questions = self.split or self.task.condition(self.condition).own_questions
        paths = {table: posixpath.join(self._table_prefix, table) for table in tables}
        if "questions" in tables and not has_own_questions:
            paths["questions"] = "questions"
        return AssetFolder(self.task.name).ins(**paths)

    @property
    def constants(self) -> list[str]:
        """Key of the table of constant responses; [] without one."""
        if self.split or self.task.asked_of != "model":
            return []
        return constants_key(self.task, self.condition)

    @property
    def _table_prefix(self) -> str:
        return self.split or ("" if self.condition == "main" else self.condition)


MakePredictions: TypeAlias = Callable[[EvaluationStep], dg.AssetsDefinition]


def predictions_asset(step: EvaluationStep) -> dg.AssetsDefinition:
    """Build the asset of predictions."""
    task = step.task

    @dg.asset(
        ins=step.ins("questions"),
        deps=[MODEL_SETUP],
        description=(
            f"One row: a model's response to one question of {task.display_title}, and details of "
            f"the request. Condition: {task.conditions[step.condition].about} A question without a "
            "response has a row with `error`; the next materialization requests it again. A launch "
            "with a limit, seed, condition or judge stores a partial number beside the tables "
            "instead."
        ),
        dagster_type=list_of(Prediction),
        output_required=False,
        **step.stage("predictions", "gpu"),
    )
    def predictions(
        context: dg.AssetExecutionContext,
        config: Launch,
        models: Models,
        tables: TableFiles,
        questions: list[Question],
    ) -> Iterator[dg.Output[list[Prediction]]]:
        if config.changes_anything(task, questions):
            config.evaluate(context, models, tables, (task, step.condition), questions)
            return
        if not questions:
            raise no_questions_error(task, step.condition)
        rows, metadata = run_predictions(context, models, task, step.condition, questions)
        yield table_output(rows, {**metadata, **throughput_metadata(rows)})

    return predictions


def configured_judge(settings: Settings, suite: str) -> str:
    """The configured judge of a suite."""
    return settings.suite(suite, SuiteSettings).judge


def evaluation_assets(
    task: Task,
    condition: str = "main",
    *,
    split: str = "",
    predictions: MakePredictions = predictions_asset,
) -> list[dg.AssetsDefinition]:
    """Build the evaluation assets of a condition, from predictions to metrics.

    They are partitioned by model; constants of the condition's own questions are not. A ``split``
    with hidden answers gets predictions and judgements only. ``predictions`` builds the asset of
    predictions; by default, chat models answer.
    """
    step = EvaluationStep(task=task, condition=condition, split=split)
    assets = [predictions(step)]
    if task.has_judgements:
        assets.append(judgements_asset(step))
    if split:
        return assets
    assets += [_scores(step), _metrics(step)]
    has_own_questions = condition == "main" or task.condition(condition).own_questions
    if step.constants and has_own_questions:
        assets.insert(0, constants_asset(task, "" if condition == "main" else condition))
    return assets


def judgements_asset(
    step: EvaluationStep,
    name: str = "judgements",
    find_judge: Callable[[Settings, str], str] = configured_judge,
    about: str = _JUDGEMENTS,
) -> dg.AssetsDefinition:
    """Build the asset of judgements.

    ``find_judge`` finds the judge of a suite in the settings; ``about`` describes a row.
    """

    @dg.asset(
        name=name,
        ins=step.ins("questions", "predictions"),
        deps=[judge_key(step.task.suite)],
        description=about,
        **step.stage("judgements", "judge"),
    )
    def judgements(
        context: dg.AssetExecutionContext,
        models: Models,
        settings: dg.ResourceParam[Settings],
        questions: list[Question],
        predictions: list[Prediction],
    ) -> dg.Output[list[Judgement]]:
        judge = find_judge(settings, step.task.suite)
        rows, metadata = run_judge(context, models, step.task, judge, questions, predictions)
        return table_output(rows, metadata)

    return judgements


def _scores(step: EvaluationStep) -> dg.AssetsDefinition:
    task = step.task

    def scores(
        settings: dg.ResourceParam[Settings],
        questions: list[Question],
        predictions: list[Prediction],
    ) -> dg.Output[list[Score]]:
        return table_output(score_rows(task, settings, questions, predictions, judgements=[]))

    def scores_with_judgements(
        settings: dg.ResourceParam[Settings],
        questions: list[Question],
        predictions: list[Prediction],
        judgements: list[Judgement],
    ) -> dg.Output[list[Score]]:
        return table_output(score_rows(task, settings, questions, predictions, judgements))

    inputs = ["questions", "predictions", *(["judgements"] if task.has_judgements else [])]
    make_asset = dg.asset(
        name="scores",
        ins=step.ins(*inputs),
        deps=[scorer_key(task.suite)],
        description=_SCORES,
        **step.stage("scores"),
    )
    # Two functions, because Dagster reads the inputs from their parameters.
    return make_asset(scores_with_judgements if task.has_judgements else scores)


def _metrics(step: EvaluationStep) -> dg.AssetsDefinition:
    constants = step.constants
    rejections = [name.split("/") for name in rejection_tables(step.task, step.condition)]

    @dg.asset(
        ins=step.ins("questions", "predictions", "scores"),
        deps=[*([constants] if constants else []), *rejections],
        description=(
            f"One row: one metric over all questions or one slice of them, with its 95 % interval "
            f"and its signature. Primary metric: {step.task.primary_metric}."
        ),
        **step.stage("metrics"),
    )
    def metrics(
        tables: TableFiles,
        questions: list[Question],
        predictions: list[Prediction],
        scores: list[Score],
    ) -> dg.Output[list[Metric]]:
        keys = partial(evaluation_key, step.task, step.condition)
        runner = Runner(
            task=step.task,
            condition=step.condition,
            responses=StoredResponses(predictions),
            baselines=Baselines(
                constants=partial(read_constants, tables, constants),
                find_judged_responses=lambda predictions, _: read_stored_judged_responses(
                    tables, keys, questions, predictions
                ),
            ),
            n_rejected=count_rejections(tables, step.task, questions, step.condition),
        )
        rows = runner.metrics(questions, predictions, judgements=[], scores=scores)
        return metrics_output(step.task, questions, rows)

    return metrics
