"""Solution verification of MCOT and multi-image VQA, one model at a time (section 4.1, Table 3)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import EvaluationStep, judgements_asset
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.evaluation.aggregation import (
    blank_metric,
    failed_ids,
    join_answers,
    response_parts,
)
from bench_assets.evaluation.pipeline import no_answer_reason
from bench_assets.evaluation.task import Task
from bench_assets.suites.journeybench.mcot.task import TASK as MCOT
from bench_assets.suites.journeybench.multi_image_vqa.task import TASK as MULTI_IMAGE_VQA
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_assets.suites.journeybench.solution_verification import SOLUTION_JUDGES, solution_of
from bench_resources.tables.parquet import table_output


def solution_assets(task: Task) -> list[dg.AssetsDefinition]:
    """Build the assets of the solution judge's verdicts on a task, and of their metric."""
    step = EvaluationStep(replace(task, judges=SOLUTION_JUDGES), is_study=True)
    judgements = judgements_asset(
        step,
        "solution_judgements",
        lambda settings, suite: settings.suite(suite, JourneyBenchSettings).solution_judge,
        "One row: whether one prediction follows the true solution, if there is one "
        "(section 4.1). Judged by `solution_judge` of [suites.journeybench], or by rules.",
    )
    return [judgements, _metrics_asset(step)]


def _metrics_asset(step: EvaluationStep) -> dg.AssetsDefinition:
    @dg.asset(
        ins=step.ins("questions", "predictions", "solution_judgements"),
        description=(
            "One row: the share of solutions, all or of one category, that follow the true "
            "one; over the questions that have a solution (606 of MCOT in the release)."
        ),
        **step.stage("metrics"),
    )
    def solution_verification(
        context: dg.AssetExecutionContext,
        questions: list[Question],
        predictions: list[Prediction],
        solution_judgements: list[Judgement],
    ) -> dg.Output[list[Metric]]:
        if not any(solution_of(question) for question in questions):
            raise TableError(f"{step.task.name}: no question has a solution to compare with")
        rows = solution_metrics(
            step.task, context.partition_key, questions, predictions, solution_judgements
        )
        return table_output(rows)

    return solution_verification


def solution_metrics(
    task: Task,
    model: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
) -> list[Metric]:
    """Share of right solutions, over all questions that have a solution and over each slice.

    Each draw counts. A response without an answer (``no_answer_reason``) is wrong, without a judge.
    """
    solvable = [question for question in questions if solution_of(question)]
    failed = failed_ids(solvable, predictions)
    verdicts: dict[str, list[bool | None]] = defaultdict(list)  # of the draws of each question
    for pair in join_answers(questions, predictions):
        if no_answer_reason(pair):
            verdicts[pair.question.question_id].append(False)
    for judgement in judgements:
        verdicts[judgement.question_id].append(judgement.verdict)
    judges = "+".join(sorted({judgement.judge for judgement in judgements})) or "none"
    parts = {**response_parts(predictions), "judge": judges, "n": str(len(solvable))}
    blank = blank_metric(task, questions, model, parts, n_failed=0)
    slices: dict[str, list[Question]] = defaultdict(list)
    for question in solvable:
        for category in dict.fromkeys(("all", *task.slices(question))):
            slices[category].append(question)
    return [
        replace(
            blank,
            metric="solution_verification",
            category=category,
            n_failed=sum(question.question_id in failed for question in slice_questions),
            **_mean_verdict(slice_questions, verdicts)._asdict(),
        )
        for category, slice_questions in slices.items()
    ]


def _mean_verdict(
    questions: Sequence[Question], verdicts: Mapping[str, Sequence[bool | None]]
) -> Mean:
    """Mean of the verdicts by question id; questions without one do not count."""
    return mean(
        ScoredPoint(None if verdict is None else float(verdict), question.cluster)
        for question in questions
        for verdict in verdicts.get(question.question_id, ())
    )


solutions = [*solution_assets(MCOT), *solution_assets(MULTI_IMAGE_VQA)]
