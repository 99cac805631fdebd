"""Studies of BLINK (section 4.3, appendix C)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import answers_key, counted_rows
from bench_assets.asset_factory.configured_runner import configured_runner
from bench_assets.asset_factory.evaluation_assets import EvaluationStep, evaluation_assets
from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder, needs_metadata
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.runner import StoredResponses
from bench_assets.suites.blink.annotation import HUMAN
from bench_assets.suites.blink.scoring import NO_OPTION_LETTER
from bench_assets.suites.blink.studies import HumanScore, human_scores, vote_over_runs
from bench_assets.suites.blink.task import TASK
from bench_resources.config.bench_toml import Settings
from bench_resources.tables.parquet import TableFiles, table_output

_TASK_FOLDER = AssetFolder("blink", str(TASK.version))


@_TASK_FOLDER.step(
    "metrics",
    reads={name: f"self_consistency/{name}" for name in ("predictions", "scores")},
    ablation=True,
    partitions=MODELS,
)
def majority_vote(
    questions: list[Question], predictions: list[Prediction], scores: list[Score]
) -> list[Metric]:
    """Compare the majority vote of five runs with single runs."""
    vote_scores = vote_over_runs(questions, scores)
    return [
        *_accuracies("majority_vote", questions, predictions, vote_scores),
        *_accuracies("single_run", questions, predictions, scores),
    ]


@_TASK_FOLDER.step(
    "metrics",
    deps=[answers_key(HUMAN)],
    metadata=needs_metadata("the annotation task"),
    ablation=True,
)
def human_score(tables: TableFiles, questions: list[Question]) -> list[HumanScore]:
    """Score the human answers."""
    return human_scores(questions, counted_rows(tables, HUMAN))


def _accuracies(
    name: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
) -> list[Metric]:
    """Return the accuracies of scores as a metric of another name, also in the signature."""
    metrics = pipeline.summarise(TASK, questions, predictions, scores)
    accuracies = [metric for metric in metrics if metric.metric == TASK.primary_metric]
    return [
        replace(
            row, metric=name, signature=str(Signature.parse(row.signature).with_parts(**{name: ""}))
        )
        for row in accuracies
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedOption:
    """Parsed answer of a model to one test question."""

    idx: str  # the authors' id: "test_Jigsaw_12"
    option: str  # "(A)", or "(Z)" if none was read


_TEST_STEP = EvaluationStep(TASK, split="test")

HIDDEN_ASSETS = evaluation_assets(TASK, split="test")


@dg.asset(
    ins=_TEST_STEP.ins("questions", "predictions", "judgements"), **_TEST_STEP.stage("predictions")
)
def submission(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    tables: TableFiles,
    questions: list[Question],
    predictions: list[Prediction],
    judgements: list[Judgement],
) -> dg.Output[list[SubmittedOption]]:
    """Write the options read from the test responses to a submission file."""
    runner = configured_runner(TASK, settings, StoredResponses(predictions))
    options = submitted_options(runner.scores(questions, predictions, judgements))
    name = f"blink_test_{quote(context.partition_key, safe='@+=')}.json"
    content = json.dumps({row.idx: row.option for row in options}, indent=4) + "\n"
    tables.export.put(name, content.encode())
    return table_output(options, {"file": dg.MetadataValue.path(tables.export.named(name))})


def submitted_options(scores: Sequence[Score]) -> list[SubmittedOption]:
    """Format the option read from every response.

    Raises:
        ModelError: If a response or a verdict is missing: it must not be submitted as "(Z)"; or if
            there are several responses to a question.
    """
    if any(score.sample for score in scores):
        raise ModelError("blink/test: several responses to a question. Set n = 1 for the model")
    if unscored := [score for score in scores if score.points is None]:
        reason = unscored[0].error or unscored[0].note
        raise ModelError(
            f"blink/test: {len(unscored)} of {len(scores)} test questions have no response or no "
            f"verdict, such as {unscored[0].question_id}: {reason}. Materialize "
            "blink/test/predictions and blink/test/judgements again to request only these"
        )
    return [
        SubmittedOption(
            idx=score.question_id.removeprefix("blink/"),
            option=f"({score.answer[0]})" if score.answer else NO_OPTION_LETTER,
        )
        for score in scores
    ]
