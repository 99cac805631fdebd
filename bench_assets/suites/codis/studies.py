"""Output variability, a study of CODIS (section 4.2, Table 4)."""

from collections.abc import Sequence

from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.suites.codis.answers import normalize_text, read_answer
from bench_assets.suites.codis.scoring import image_cluster


def measure_variability(
    questions: Sequence[Question],
    with_context: Sequence[Prediction],
    without_context: Sequence[Prediction],
) -> Mean:
    """Share of queries that a model answers differently without the context (section 4.2).

    The paper has people compare the outputs; here the parsed answers are compared. A query that
    lacks one response is unscored, one that lacks both is ignored.

    Args:
        questions: The queries to average over; predictions for others are ignored.
        with_context: One model's predictions under ``main``.
        without_context: The same model's predictions under ``no_context``.
    """
    by_id = {question.question_id: question for question in questions}
    with_by_key = _by_key(with_context)
    without_by_key = _by_key(without_context)
    points = []
    for key in sorted(with_by_key.keys() | without_by_key.keys()):
        question_id, _sample = key
        question = by_id.get(question_id)
        if question:
            value = _answers_differ(question, with_by_key.get(key), without_by_key.get(key))
            points.append(ScoredPoint(value, image_cluster(question)))
    return mean(points)


def _by_key(predictions: Sequence[Prediction]) -> dict[tuple[str, int], Prediction]:
    """Predictions by question id and sample."""
    return {(prediction.question_id, prediction.sample): prediction for prediction in predictions}


def _answers_differ(
    question: Question, with_context: Prediction | None, without_context: Prediction | None
) -> float | None:
    """Whether two answers differ, as 1 or 0; None if one is missing or failed."""
    if with_context is None or without_context is None:
        return None
    if with_context.error or without_context.error:
        return None
    answer = normalize_text(read_answer(question, with_context.text))
    answer_without = normalize_text(read_answer(question, without_context.text))
    return float(answer != answer_without)
