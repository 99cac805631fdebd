"""Output variability of CODIS (section 4.2)."""

from dataclasses import replace

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder
from bench_assets.core.schema.rows import Metric, Prediction, Question
from bench_assets.evaluation.aggregation import blank_metric, failed_ids, response_parts
from bench_assets.suites.codis.studies import measure_variability
from bench_assets.suites.codis.task import TASK

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
    """Compare the answers with and without context, over all queries and by category."""
    failed = failed_ids(questions, predictions) | failed_ids(questions, without_context)
    row = blank_metric(
        TASK,
        questions,
        context.partition_key,
        {**response_parts(predictions), "n": str(len(questions))},
        n_failed=len(failed),
        condition="main~no_context",
        leading_parts={"judge": "none"},
    )
    slices: dict[str, list[Question]] = {"all": questions}
    for question in questions:
        slices.setdefault(question.category, []).append(question)
    return [
        replace(
            row,
            condition="no_context",  # the row's own; its signature names both
            metric="output_variability",
            category=category,
            n_failed=sum(question.question_id in failed for question in slice_questions),
            **measure_variability(slice_questions, predictions, without_context)._asdict(),
        )
        for category, slice_questions in slices.items()
    ]
