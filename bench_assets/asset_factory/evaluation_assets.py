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
    CONSTANTS,
    count_rejections,
    evaluation_key,
    no_questions_error,
    questions_key,
    read_constants,
    read_judged_before,
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

    def stage(self, stage: StageName, asks: Pool | None = None) -> AssetArguments:
        """Arguments of ``dg.asset`` for a table."""
        version = "+".join((str(self.task.version), *self.task.extensions))
        arguments = AssetFolder(self.task.name, version).stage(
            stage,
            asks=asks,
            below=self._table_prefix,
            ablation=bool(self.is_study or self._table_prefix),
            partitions=PARTITIONS_BY_MODEL_KIND[self.task.asked_of],
        )
        if self.task.asked_of == "encoder":  # encoders answer none of the suite's other tasks
            arguments["group_name"] = self.task.name.replace("/", "_")
        return arguments

    def ins(self, *tables: str) -> dict[str, dg.AssetIn]:
        """Inputs of an asset: tables of this evaluation, including the questions."""
        is_split = self.split or self.task.condition(self.condition).own_questions
        folders = {"questions": self._table_prefix if is_split else ""}
        places = {t: posixpath.join(folders.get(t, self._table_prefix), t) for t in tables}
        return AssetFolder(self.task.name).ins(**places)

    @property
    def constants(self) -> list[str]:
        """Key of the table of constant responses; [] without one."""
        if self.split or self.task.asked_of != "model":
            return []
        return [*questions_key(self.task, self.condition)[:-1], CONSTANTS]

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
            f"One row: a model's response to one question of {task.shown}, and details of the "
            f"request. Condition: {task.conditions[step.condition].about} A question without a "
            f"response "
            "has a row with `error`; the next materialization requests it again. A launch with a "
            "limit, seed, condition or judge stores a partial number beside the tables instead."
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
        if config.is_partial(task, questions):
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
    """Build the evaluation assets of a condition, from questions to metrics, partitioned by model.

    A ``split`` with hidden answers gets predictions and judgements only. ``predictions`` builds the
    asset of predictions; by default, chat models answer.
    """
    step = EvaluationStep(task, condition, split)
    model_assets = [predictions(step), *([judgements_asset(step)] if task.has_judgements else [])]
    subfolder = "" if condition == "main" else condition
    has_own_questions = not subfolder or task.condition(condition).own_questions
    constant_assets = (
        [constants_asset(task, subfolder)] if step.constants and has_own_questions else []
    )
    return (
        model_assets if split else [*constant_assets, *model_assets, _scores(step), _metrics(step)]
    )


def judgements_asset(
    step: EvaluationStep,
    name: str = "judgements",
    judge: Callable[[Settings, str], str] = configured_judge,
    about: str = _JUDGEMENTS,
) -> dg.AssetsDefinition:
    """Build the asset of judgements, by the judge that ``judge`` finds in bench.toml.

    ``about`` describes one row of the table ``name``.
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
        judge_name = judge(settings, step.task.suite)
        rows, metadata = run_judge(context, models, step.task, judge_name, questions, predictions)
        return table_output(rows, metadata)

    return judgements


def _scores(step: EvaluationStep) -> dg.AssetsDefinition:
    """Build the asset of scores; two signatures, because Dagster reads inputs from them."""
    task = step.task

    def scores(
        settings: dg.ResourceParam[Settings],
        questions: list[Question],
        predictions: list[Prediction],
    ) -> dg.Output[list[Score]]:
        return table_output(score_rows(task, settings, questions, predictions, []))

    def scores_of_judged(
        settings: dg.ResourceParam[Settings],
        questions: list[Question],
        predictions: list[Prediction],
        judgements: list[Judgement],
    ) -> dg.Output[list[Score]]:
        return table_output(score_rows(task, settings, questions, predictions, judgements))

    make = dg.asset(
        name="scores",
        ins=step.ins("questions", "predictions", *(["judgements"] if task.has_judgements else [])),
        deps=[scorer_key(task.suite)],
        description=_SCORES,
        **step.stage("scores"),
    )
    return make(scores_of_judged if task.has_judgements else scores)


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
                judged=lambda rows, _: read_judged_before(tables, keys, questions, rows),
            ),
            n_rejected=count_rejections(tables, step.task, questions, step.condition),
        )
        rows = runner.metrics(questions, predictions, [], scores)
        return metrics_output(step.task, questions, rows)

    return metrics
