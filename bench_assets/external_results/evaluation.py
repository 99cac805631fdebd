"""Results of another harness as questions, predictions, scores and metrics."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isclose, isnan, nan

from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import AnswerKind, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature, short_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.baselines.blind_baselines import best_constants
from bench_assets.evaluation.task import Evaluation, Task
from bench_assets.external_results.results import ExternalMetric, ExternalResults, ExternalSample
from bench_assets.external_results.suite import ImportedTask

_PERCENT = 100.0  # factor from shares to percent


def imported_evaluation(
    results: ExternalResults, imported: ImportedTask, put_image: Callable[[bytes], str]
) -> Evaluation:
    """Convert results to rows for the leaderboard, report, audits and comparisons.

    Args:
        results: Results of the harness.
        imported: The imported task.
        put_image: Stores an image and returns its SHA-256.

    Raises:
        SourceError: If two samples with the same id have different prompts, or an image cannot be
            decoded.
    """
    task = imported.as_task()
    questions = _questions(results, task, put_image)
    predictions = [_prediction(sample, results, task) for sample in results.samples]
    most = max([1.0, *(sample.points for sample in results.samples if sample.points is not None)])
    pairs = zip(results.samples, predictions, strict=True)
    scores = [
        _score(pair, prediction, most, is_error=task.is_lowest_best) for pair, prediction in pairs
    ]
    return with_reported_metrics(
        Evaluation(
            task=task,
            model=results.model,
            condition="main",
            questions=questions,
            predictions=predictions,
            scores=scores,
            metrics=(),
            partial=results.about,
        ),
        results.metrics,
    )


def with_reported_metrics(one: Evaluation, printed: Sequence[ExternalMetric]) -> Evaluation:
    """Take the reported numbers unchanged, with intervals if the points reproduce them."""
    rows = pipeline.summarise(one.task, one.questions, one.predictions, one.scores)
    constants = {
        (row.metric, row.category): row.value for row in best_constants(one.task, one.questions)
    }
    signature = str(_signature(one, digest(one.questions)))
    headline = printed[0]
    most = one.scores[0].max_points
    factor = _factor(rows[0].value, headline.value, most)
    computed = [
        replace(
            row,
            value=row.value * factor,
            low=row.low * factor,
            high=row.high * factor,
            constant=None
            if (c := constants.get((row.metric, row.category))) is None
            else c * most * factor,
            signature=signature,
        )
        for row in rows
        if not isnan(factor)
    ]
    by_key = {(row.metric, row.category): row for row in computed}
    reported = [
        replace(row, value=number.value)  # the same number, with its interval
        if (row := by_key.get((number.name, number.category)))
        and isclose(row.value, number.value, abs_tol=1e-9)
        else _reported_metric(number, rows[0], signature)
        for number in printed
    ]
    known = {(row.metric, row.category) for row in reported}
    kept = [row for row in computed if (row.metric, row.category) not in known]
    return replace(one, metrics=sorted([*reported, *kept], key=lambda row: row.category != "all"))


def _questions(
    results: ExternalResults, task: Task, put_image: Callable[[bytes], str]
) -> list[Question]:
    questions_by_id: dict[str, Question] = {}
    for sample in results.samples:
        question = Question(
            question_id=f"{task.name}/{sample.sample_id}",
            task=task.name,
            edition="own",
            kind=_kind(sample),
            text=sample.prompt,
            answer=sample.target,
            images=_images(sample, put_image),
            options=sample.options,
            category=sample.category,
        )
        if questions_by_id.setdefault(question.question_id, question) != question:
            raise SourceError(
                f"{results.measured_by}, {results.task}: sample {sample.sample_id} has two"
                " different prompts; sample ids must be unique"
            )
    return list(questions_by_id.values())


def _images(one: ExternalSample, put_image: Callable[[bytes], str]) -> tuple[str, ...]:
    try:
        return tuple(put_image(image) for image in one.images)
    except ImageError as error:
        raise SourceError(f"sample {one.sample_id}: {error}") from error


def _kind(one: ExternalSample) -> AnswerKind:
    letters = [chr(ord("A") + n) for n in range(len(one.options))]
    if not one.options or not set(one.target) <= set(letters):
        return "text"
    return "choice" if len(one.target) == 1 else "choices"


def _prediction(one: ExternalSample, results: ExternalResults, task: Task) -> Prediction:
    return Prediction(
        question_id=f"{task.name}/{one.sample_id}",
        model=results.model,
        condition="main",
        sample=one.draw,
        text=one.response,
        raw_text=one.response,
        decoding=f"{results.model}|by {results.measured_by}",
        error=one.error,
    )


def _score(
    one: ExternalSample, prediction: Prediction, max_points: float, *, is_error: bool
) -> Score:
    """The points of the harness; of errors, what is left of the most."""
    points = None if one.error or one.points is None or one.points < 0 else one.points
    scored = Score.of(
        prediction,
        points=max_points - points if is_error and points is not None else points,
        max_points=max_points,
        answer=(one.answer,) if one.answer else (),
        note=one.why,
    )
    return replace(scored, error=one.error)


def _signature(one: Evaluation, data: str) -> Signature:
    parts = {
        "data": short_digest(data),
        "harness": one.task.measured_by,
        "model": one.model,
        "n": str(len(one.questions)),
        **({"partial": one.partial} if one.partial else {}),
    }
    return Signature(one.task.name, one.task.version, one.condition, parts)


def _factor(computed: float, reported: float, max_points: float) -> float:
    """Factor from the mean points to the reported number; NaN if unrelated."""
    factors = (1.0, _PERCENT, 1 / max_points, _PERCENT / max_points)
    return next((f for f in factors if isclose(computed * f, reported, abs_tol=1e-9)), nan)


def _reported_metric(number: ExternalMetric, like: Metric, signature: str) -> Metric:
    return replace(
        like,
        metric=number.name,
        category=number.category,
        value=number.value,
        low=nan,
        high=nan,
        constant=None,
        shuffled=None,
        n_clusters=None,
        largest_cluster=None,
        signature=signature,
    )
