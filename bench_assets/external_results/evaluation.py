"""Results of another harness as questions, predictions, scores and metrics."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isclose, isnan, nan

from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
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

    ``put_image`` stores an image and returns its SHA-256.

    Raises:
        SourceError: If two samples with the same id have different prompts, or an image cannot be
            decoded.
    """
    task = imported.as_task()
    questions = _questions(results, task, put_image)
    predictions = [_prediction(sample, results, task) for sample in results.samples]
    points = [sample.points for sample in results.samples if sample.points is not None]
    max_points = max([1.0, *points])
    scores = [
        _score(sample, prediction, max_points, is_error=task.is_lowest_best)
        for sample, prediction in zip(results.samples, predictions, strict=True)
    ]
    evaluation = Evaluation(
        task=task,
        model=results.model,
        condition="main",
        questions=questions,
        predictions=predictions,
        scores=scores,
        metrics=(),
        partial=results.partial,
    )
    return _with_reported_metrics(evaluation, results.metrics)


def _with_reported_metrics(
    evaluation: Evaluation, reported: Sequence[ExternalMetric]
) -> Evaluation:
    """Take reported numbers, with intervals if the points reproduce them; adds computed ones."""
    rows = pipeline.summarise(
        evaluation.task, evaluation.questions, evaluation.predictions, evaluation.scores
    )
    signature = str(_signature(evaluation, digest(evaluation.questions)))
    computed = _computed_metrics(evaluation, rows, reported[0], signature)
    computed_by_key = {(row.metric, row.category): row for row in computed}
    metrics: list[Metric] = []
    for number in reported:
        row = computed_by_key.get((number.name, number.category))
        if row and isclose(row.value, number.value, abs_tol=1e-9):
            metrics.append(replace(row, value=number.value))  # the same number, with its interval
        else:
            metrics.append(_reported_metric(number, rows[0], signature))
    reported_keys = {(row.metric, row.category) for row in metrics}
    metrics += [row for key, row in computed_by_key.items() if key not in reported_keys]
    return replace(evaluation, metrics=sorted(metrics, key=lambda row: row.category != "all"))


def _computed_metrics(
    evaluation: Evaluation, rows: Sequence[Metric], headline: ExternalMetric, signature: str
) -> list[Metric]:
    """Metrics of the points on the headline's scale; none if the points do not reproduce it."""
    max_points = evaluation.scores[0].max_points
    factor = _factor(rows[0].value, headline.value, max_points)
    if isnan(factor):
        return []
    constants = {
        (row.metric, row.category): row.value * max_points * factor
        for row in best_constants(evaluation.task, evaluation.questions)
    }
    return [
        replace(
            row,
            value=row.value * factor,
            low=row.low * factor,
            high=row.high * factor,
            constant=constants.get((row.metric, row.category)),
            signature=signature,
        )
        for row in rows
    ]


def _questions(
    results: ExternalResults, task: Task, put_image: Callable[[bytes], str]
) -> list[Question]:
    """The questions of the samples; draws of one sample share its question."""
    questions_by_id: dict[str, Question] = {}
    for sample in results.samples:
        question = Question(
            question_id=f"{task.name}/{sample.sample_id}",
            task=task.name,
            edition="own",
            kind=sample.kind,
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


def _images(sample: ExternalSample, put_image: Callable[[bytes], str]) -> tuple[str, ...]:
    try:
        return tuple(put_image(image) for image in sample.images)
    except ImageError as error:
        raise SourceError(f"sample {sample.sample_id}: {error}") from error


def _prediction(sample: ExternalSample, results: ExternalResults, task: Task) -> Prediction:
    return Prediction(
        question_id=f"{task.name}/{sample.sample_id}",
        model=results.model,
        condition="main",
        sample=sample.draw,
        text=sample.response,
        raw_text=sample.response,
        decoding=f"{results.model}|by {results.measured_by}",
        error=sample.error,
    )


def _score(
    sample: ExternalSample, prediction: Prediction, max_points: float, *, is_error: bool
) -> Score:
    """Score a sample by its points or errors; unscored if it failed or has negative points."""
    points = sample.points
    if sample.error or points is None or points < 0:
        points = None
    elif is_error:
        points = max_points - points
    score = Score.of(
        prediction,
        points=points,
        max_points=max_points,
        answer=(sample.answer,) if sample.answer else (),
        note=sample.explanation,
    )
    return replace(score, error=sample.error)


def _signature(evaluation: Evaluation, data: str) -> Signature:
    task = evaluation.task
    parts = {
        "data": short_digest(data),
        "harness": task.measured_by,
        "model": evaluation.model,
        "n": str(len(evaluation.questions)),
        **({"partial": evaluation.partial} if evaluation.partial else {}),
    }
    return Signature(
        task=task.name, version=task.version, condition=evaluation.condition, parts=parts
    )


def _factor(computed: float, reported: float, max_points: float) -> float:
    """Factor from the mean points to the reported number; NaN if unrelated."""
    for factor in (1.0, _PERCENT, 1 / max_points, _PERCENT / max_points):
        if isclose(computed * factor, reported, abs_tol=1e-9):
            return factor
    return nan


def _reported_metric(number: ExternalMetric, template: Metric, signature: str) -> Metric:
    """A number without interval and baselines, otherwise like a computed metric."""
    return replace(
        template,
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
