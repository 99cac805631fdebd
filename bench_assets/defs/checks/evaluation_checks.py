"""Asset checks of predictions, judgements, scores and metrics."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import dagster as dg

from bench_assets.asset_factory.check_results import check_result, format_count, with_advice
from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.asset_factory.suite_assets import PARTITIONS_BY_MODEL_KIND
from bench_assets.core.schema.metric_text import WARNED_UNREAD
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.defs.checks.shared_ops import TableCheck, joint_checks
from bench_assets.defs.report_links import link_questions
from bench_assets.evaluation.outcomes import (
    format_served,
    mix_message,
    refusal_advice,
    served_counts,
)
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings

MAX_UNSCORED_SHARE = 0.02
"""Share of rows without points above which the check of a score table fails."""


def evaluation_checks(task: Task, condition: str) -> list[dg.AssetChecksDefinition]:
    """Build the checks of one condition of a task."""
    return [
        _prediction_checks(task, condition),
        *([_judgement_checks(task, condition)] if task.has_judgements else []),
        _score_checks(task, condition),
        _metric_checks(task, condition),
    ]


def n_draws(task: Task, condition: str, rows: Sequence[Prediction | Score]) -> int:
    """Number of responses that a question must have: the condition's, or the rows' if larger."""
    return max([task.conditions[condition].samples, *(1 + row.sample for row in rows)])


def missing_rows(
    questions: Sequence[Question], rows: Sequence[Prediction | Score], samples: int
) -> list[str]:
    """Find questions with missing or extra rows, and rows of unknown questions."""
    counts = Counter(row.question_id for row in rows)
    question_ids = {question.question_id for question in questions}
    problems = [
        f"{name}: {counts[name]} rows instead of {samples}"
        for name in sorted(question_ids)
        if counts[name] != samples
    ]
    unknown = sorted(counts.keys() - question_ids)
    return problems + [f"{name}: no such question" for name in unknown]


def _prediction_checks(task: Task, condition: str) -> dg.AssetChecksDefinition:
    key, questions = evaluation_key(task, condition, "predictions"), questions_key(task, condition)
    checks = [
        TableCheck(
            name="every_question_answered",
            description="Every question has its responses. A failed request is not a wrong answer: "
            "nothing is scored until materializing again has retried it. Permanent refusals by a "
            "provider count as wrong if `accept` has `refused`.",
            run=partial(_check_answered, task, condition),
            blocking=True,
            deps=[dg.AssetKey(questions)],
        ),
        TableCheck(
            name="one_model_answered",
            description="One model, snapshot and build answered all questions, as the server "
            "reports it; or `accept` has `mixed`.",
            run=lambda predictions, settings: _check_one_model(
                task, condition, predictions, settings
            ),
            blocking=True,
        ),
    ]
    return joint_checks(
        checks,
        key,
        {"questions": (questions, Question), "predictions": (key, Prediction)},
        resources=["settings"],
        partitions=PARTITIONS_BY_MODEL_KIND[task.asked_of],
    )


def _check_answered(
    task: Task, condition: str, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> dg.AssetCheckResult:
    samples = n_draws(task, condition, predictions)
    problems = missing_rows(questions, predictions, samples)
    problems += _request_errors(predictions)
    holds = f"{format_count(len(predictions), 'response')}: {samples} to every question."
    result = check_result(problems, n=len(predictions), noun="response", holds=holds)
    result = with_advice(result, refusal_advice(predictions))
    failed = _failed_questions(predictions)
    return link_questions(result, task, condition, _model_name(predictions), failed)


def _check_one_model(
    task: Task, condition: str, rows: Sequence[Prediction] | Sequence[Judgement], settings: Settings
) -> dg.AssetCheckResult:
    served = served_counts(rows)
    accept = settings.suite(task.suite, SuiteSettings).accept
    problem = mix_message(served, accept)
    holds = format_served(served) or "No server names the model that answered."
    result = check_result([problem] if problem else [], n=1, noun="evaluation", holds=holds)
    return link_questions(result, task, condition, _model_name(rows))


def _judgement_checks(task: Task, condition: str) -> dg.AssetChecksDefinition:
    key = evaluation_key(task, condition, "judgements")
    checks = [
        TableCheck(
            name="every_response_judged",
            description="No request to the judge failed.",
            run=partial(_check_judged, task, condition),
            blocking=True,
        ),
        TableCheck(
            name="one_model_judged",
            description="One model judged all responses; or `accept` has `mixed`.",
            run=lambda judgements, settings: _check_one_model(
                task, condition, judgements, settings
            ),
            blocking=True,
        ),
    ]
    return joint_checks(
        checks,
        key,
        {"judgements": (key, Judgement)},
        resources=["settings"],
        partitions=PARTITIONS_BY_MODEL_KIND[task.asked_of],
    )


def _check_judged(
    task: Task, condition: str, judgements: Sequence[Judgement]
) -> dg.AssetCheckResult:
    holds = f"{format_count(len(judgements), 'verdict')}: no request to the judge failed."
    problems = _request_errors(judgements)
    result = check_result(problems, n=len(judgements), noun="verdict", holds=holds)
    result = with_advice(result, refusal_advice(judgements))
    failed = _failed_questions(judgements)
    return link_questions(result, task, condition, _model_name(judgements), failed)


def _score_checks(task: Task, condition: str) -> dg.AssetChecksDefinition:
    key, questions = evaluation_key(task, condition, "scores"), questions_key(task, condition)
    checks = [
        TableCheck(
            name="no_row_lost",
            description="Every question has its scores: no row was lost between the tables.",
            run=partial(_check_rows, task, condition),
            blocking=True,
            deps=[dg.AssetKey(questions)],
        ),
        TableCheck(
            name="few_unscored",
            description=f"At most {MAX_UNSCORED_SHARE:.0%} of the rows have no points.",
            run=partial(_check_unscored, task, condition),
        ),
        TableCheck(
            name="few_unread",
            description=f"At most {WARNED_UNREAD:.0%} of the responses are unread.",
            run=partial(_check_unread, task, condition),
        ),
    ]
    return joint_checks(
        checks,
        key,
        {"questions": (questions, Question), "scores": (key, Score)},
        partitions=PARTITIONS_BY_MODEL_KIND[task.asked_of],
    )


def _check_rows(
    task: Task, condition: str, questions: Sequence[Question], scores: Sequence[Score]
) -> dg.AssetCheckResult:
    samples = n_draws(task, condition, scores)
    problems = missing_rows(questions, scores, samples)
    holds = f"{format_count(len(scores), 'score')}: {samples} of every question."
    result = check_result(problems, n=len(scores), noun="score", holds=holds)
    return link_questions(result, task, condition, _model_name(scores))


def _check_unscored(task: Task, condition: str, scores: Sequence[Score]) -> dg.AssetCheckResult:
    unscored = [row for row in scores if row.points is None]
    problems = [f"{row.question_id}: {row.note}" for row in unscored]
    summary = f"{len(unscored)} of {format_count(len(scores), 'score')} without points"
    result = _check_share(problems, len(scores), summary, MAX_UNSCORED_SHARE)
    questions = (row.question_id for row in unscored)
    return link_questions(result, task, condition, _model_name(scores), questions)


def _check_unread(task: Task, condition: str, scores: Sequence[Score]) -> dg.AssetCheckResult:
    unread = [row.question_id for row in scores if row.unread]
    summary = f"{len(unread)} of {format_count(len(scores), 'response')} unread"
    model = _model_name(scores)
    result = _check_share(unread, len(scores), summary, WARNED_UNREAD)
    result = link_questions(result, task, condition, model, unread)
    if result.passed:
        return result
    command = f"bench evaluate {task.name} --model {model} --reader MODEL"
    return with_advice(result, f"To have a model read them: {command}")


def _check_share(
    problems: Sequence[str], n: int, summary: str, max_share: float
) -> dg.AssetCheckResult:
    """Warn if more than a share of n rows have a problem."""
    result = check_result(problems, n=n, severity=dg.AssetCheckSeverity.WARN)
    passed = len(problems) <= max_share * n
    comparison = "no more" if passed else "more"
    description = f"{summary}: {comparison} than {max_share:.0%}."
    return result._replace(passed=passed, description=description)


def _metric_checks(task: Task, condition: str) -> dg.AssetChecksDefinition:
    key = evaluation_key(task, condition, "metrics")
    checks = [
        TableCheck(
            name="whole",
            description="The metrics cover the whole question table.",
            run=partial(_check_complete, task, condition),
        )
    ]
    return joint_checks(
        checks, key, {"metrics": (key, Metric)}, partitions=PARTITIONS_BY_MODEL_KIND[task.asked_of]
    )


def _check_complete(task: Task, condition: str, metrics: Sequence[Metric]) -> dg.AssetCheckResult:
    problems = [
        f"{row.metric}, {row.category}: {row.n_failed} questions without a response"
        for row in metrics
        if row.n_failed
    ]
    holds = f"{format_count(len(metrics), 'metric')}: each is over all of its questions."
    result = check_result(problems, n=len(metrics), noun="metric", holds=holds)
    return link_questions(result, task, condition, _model_name(metrics))


def _request_errors(rows: Sequence[Prediction] | Sequence[Judgement]) -> list[str]:
    return [f"{row.question_id}: {row.error}" for row in rows if row.error]


def _failed_questions(rows: Sequence[Prediction] | Sequence[Judgement]) -> Iterator[str]:
    return (row.question_id for row in rows if row.error)


def _model_name(rows: Sequence[Prediction | Judgement | Score | Metric]) -> str:
    """The model of the rows, which are all of one model; "" without rows."""
    return rows[0].model if rows else ""
