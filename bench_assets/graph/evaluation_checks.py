"""What must hold of the tables right of the waist, one model at a time."""

from collections import Counter
from collections.abc import Sequence

import dagster as dg

from bench_assets.check_results import check_result, counted
from bench_assets.core.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.evaluation import evaluation_key, questions_key
from bench_assets.partitions import ANSWERING
from bench_assets.task import Task

MAX_UNSCORED_SHARE = 0.02
"""Above this share of rows without points a score table is called doubtful."""


def evaluation_checks(task: Task, condition: str) -> list[dg.AssetChecksDefinition]:
    """Build the checks of one condition of a task."""
    return [
        _every_question_answered(task, condition),
        *([_every_reply_judged(task, condition)] if task.is_judged else []),
        _no_row_lost(task, condition),
        _few_unscored(task, condition),
        _whole(task, condition),
    ]


def missing_rows(
    questions: Sequence[Question], rows: Sequence[Prediction | Score], samples: int
) -> list[str]:
    """Find questions with more or fewer rows than were asked for, and rows of no question."""
    times = Counter(row.question_id for row in rows)
    asked = {question.question_id for question in questions}
    wrong = [
        f"{name}: {times[name]} rows instead of {samples}"
        for name in sorted(asked)
        if times[name] != samples
    ]
    return wrong + [f"{name}: no such question" for name in sorted(times.keys() - asked)]


def _every_question_answered(task: Task, condition: str) -> dg.AssetChecksDefinition:
    samples = task.conditions[condition].samples

    @dg.asset_check(
        asset=evaluation_key(task, condition, "predictions"),
        blocking=True,
        partitions_def=ANSWERING[task.asked_of],
        additional_ins={"questions": dg.AssetIn(questions_key(task, condition))},
        description=(
            "Every question has its replies. A failed connection is no wrong answer: while there "
            "are any, nothing is scored; materialize again to ask just those."
        ),
    )
    def every_question_answered(
        questions: list[Question], predictions: list[Prediction]
    ) -> dg.AssetCheckResult:
        problems = missing_rows(questions, predictions, samples)
        problems += [f"{row.question_id}: {row.error}" for row in predictions if row.error]
        holds = f"{counted(len(predictions), 'reply')}: {samples} to every question."
        return check_result(problems, n=len(predictions), of="reply", holds=holds)

    return every_question_answered


def _every_reply_judged(task: Task, condition: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=evaluation_key(task, condition, "judgements"),
        blocking=True,
        partitions_def=ANSWERING[task.asked_of],
        description="The judge could be asked about every reply.",
    )
    def every_reply_judged(judgements: list[Judgement]) -> dg.AssetCheckResult:
        problems = [f"{row.question_id}: {row.error}" for row in judgements if row.error]
        holds = f"{counted(len(judgements), 'verdict')}: none failed for want of the judge."
        return check_result(problems, n=len(judgements), of="verdict", holds=holds)

    return every_reply_judged


def _no_row_lost(task: Task, condition: str) -> dg.AssetChecksDefinition:
    samples = task.conditions[condition].samples

    @dg.asset_check(
        asset=evaluation_key(task, condition, "scores"),
        blocking=True,
        partitions_def=ANSWERING[task.asked_of],
        additional_ins={"questions": dg.AssetIn(questions_key(task, condition))},
        description="Every question has its scores: no row was lost between the tables.",
    )
    def no_row_lost(questions: list[Question], scores: list[Score]) -> dg.AssetCheckResult:
        lost = missing_rows(questions, scores, samples)
        holds = f"{counted(len(scores), 'score')}: {samples} of every question."
        return check_result(lost, n=len(scores), of="score", holds=holds)

    return no_row_lost


def _few_unscored(task: Task, condition: str) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=evaluation_key(task, condition, "scores"),
        partitions_def=ANSWERING[task.asked_of],
        description=f"At most {MAX_UNSCORED_SHARE:.0%} of the rows have no points.",
    )
    def few_unscored(scores: list[Score]) -> dg.AssetCheckResult:
        unscored = [f"{row.question_id}: {row.note}" for row in scores if row.points is None]
        result = check_result(unscored, n=len(scores), severity=dg.AssetCheckSeverity.WARN)
        said = f"{len(unscored)} of {counted(len(scores), 'score')} without points"
        passed = len(unscored) <= MAX_UNSCORED_SHARE * len(scores)
        verdict = "no more" if passed else "more"
        return result._replace(
            passed=passed, description=f"{said}: {verdict} than {MAX_UNSCORED_SHARE:.0%}."
        )

    return few_unscored


def _whole(task: Task, condition: str) -> dg.AssetChecksDefinition:
    key = evaluation_key(task, condition, "metrics")

    @dg.asset_check(
        asset=key,
        partitions_def=ANSWERING[task.asked_of],
        description="The metrics are those of the whole question table.",
    )
    def whole(metrics: list[Metric]) -> dg.AssetCheckResult:
        partial = [
            f"{row.metric}, {row.category}: {row.n_failed} questions without a reply"
            for row in metrics
            if row.n_failed
        ]
        holds = f"{counted(len(metrics), 'metric')}: each is over all of its questions."
        return check_result(partial, n=len(metrics), of="metric", holds=holds)

    return whole
