"""Studies of CODIS (sections 4.2, 5.2, 5.3, appendix A)."""

from collections.abc import Sequence
from dataclasses import replace

import dagster as dg

from bench_assets.asset_factory.evaluation_steps import run_judge
from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder, needs_metadata
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question
from bench_assets.evaluation.aggregation import blank_metric, format_decodings
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.codis import studies
from bench_assets.suites.codis.settings import CodisSettings
from bench_assets.suites.codis.studies import WordCount
from bench_assets.suites.codis.studies import output_variability as variability
from bench_assets.suites.codis.studies import word_bias as count_words
from bench_assets.suites.codis.task import TASK
from bench_resources.config.bench_toml import Settings
from bench_resources.models.registry.opening import Models

_TASK_FOLDER = AssetFolder("codis", str(TASK.version))


@_TASK_FOLDER.step(
    "metrics", reads={"without_context": "no_context/predictions"}, ablation=True, partitions=MODELS
)
def output_variability(
    context: dg.AssetExecutionContext,
    questions: list[Question],
    predictions: list[Prediction],
    without_context: list[Prediction],
) -> list[Metric]:
    """Compare the answers with and without context."""
    row = _row(
        context.partition_key, questions, predictions, compared="main~no_context", judge="none"
    )
    slices: dict[str, list[Question]] = {"all": questions}
    for question in questions:
        slices.setdefault(question.category, []).append(question)
    rows = []
    for category, slice_questions in slices.items():
        share = variability(slice_questions, predictions, without_context)
        rows.append(
            replace(
                row,
                condition="no_context",
                metric="output_variability",
                category=category,
                n_failed=len(slice_questions) - share.n_scored,
                **share._asdict(),
            )
        )
    return rows


@_TASK_FOLDER.step("metrics", ablation=True, partitions=MODELS)
def word_bias(
    settings: dg.ResourceParam[Settings], questions: list[Question], predictions: list[Prediction]
) -> list[WordCount]:
    """Count the configured words in the final answers."""
    by_id = {question.question_id: question for question in questions}
    answered = [AnsweredQuestion(by_id[p.question_id], p) for p in predictions]
    word_pairs = settings.suite("codis", CodisSettings).word_pairs
    return count_words(answered, word_pairs)


@_TASK_FOLDER.step(
    "metrics",
    metadata=needs_metadata("second_judge or human_labels in [suites.codis] of bench.toml"),
    asks="judge",
    ablation=True,
    partitions=MODELS,
)
def judge_agreement(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: Models,
    questions: list[Question],
    predictions: list[Prediction],
    judgements: list[Judgement],
) -> list[Metric]:
    """Compare the judge with a second judge, a model or people."""
    chosen = settings.suite("codis", CodisSettings)
    rows = []
    if chosen.second_judge:
        judge = chosen.second_judge
        second, _ = run_judge(context, models, TASK, judge, questions, predictions)
        rows.append(("agreement", chosen.second_judge, studies.agreement(judgements, second)))
    if chosen.human_labels:
        file = settings.resolve(chosen.human_labels)
        labels = studies.labels_of(context.partition_key, studies.read_labels(file))
        people = studies.majority_judgements(labels, predictions)
        rows.append(("agreement", studies.PEOPLE, studies.agreement(judgements, people)))
        if len({label.annotator for label in labels}) > 1:
            rows.append(("consistency", studies.PEOPLE, studies.consistency(labels)))
    first = judgements[0].judge if judgements else "none"
    return [
        replace(
            _row(context.partition_key, questions, predictions, judges=f"{first}~{row}"),
            metric=metric,
            **share._asdict(),
        )
        for metric, row, share in rows
    ]


def _row(
    model: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    *,
    compared: str = "main",
    **judges: str,
) -> Metric:
    parts = {"model": format_decodings(predictions), "n": str(len(questions))}
    n_failed = sum(bool(p.error) for p in predictions)
    return blank_metric(
        TASK, questions, model, parts, n_failed=n_failed, compared=compared, before=judges
    )
