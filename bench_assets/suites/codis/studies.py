"""Output variability, a study of CODIS (section 4.2, Table 4)."""

from collections.abc import Sequence

from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.suites.codis.answers import (
    normalize_text,
    read_answer,
)
from bench_assets.suites.codis.scoring import image_cluster


def output_variability(
    questions: Sequence[Question],
    with_context: Sequence[Prediction],
    without_context: Sequence[Prediction],
) -> Mean:
    """Share of queries that a model answers differently without the context (section 4.2).

    The paper has people compare the outputs; here the parsed answers are compared. A query without
    both responses is unscored.

    Args:
        questions: The queries to average over; predictions for others are ignored.
        with_context: One model's predictions under ``main``.
        without_context: The same model's predictions under ``no_context``.
    """
    by_id = {question.question_id: question for question in questions}
    with_by_key, without_by_key = (
        {(p.question_id, p.sample): p for p in predictions if p.question_id in by_id}
        for predictions in (with_context, without_context)
    )
    return mean(
        ScoredPoint(
            _answers_differ(by_id[key[0]], with_by_key.get(key), without_by_key.get(key)),
            image_cluster(by_id[key[0]]),
        )
        for key in sorted(with_by_key.keys() | without_by_key.keys())
    )


def _answers_differ(
    question: Question, given: Prediction | None, taken_away: Prediction | None
) -> float | None:
    if given is None or taken_away is None or given.error or taken_away.error:
        return None
    answer_given, answer_without = (
        normalize_text(read_answer(question, p.text)) for p in (given, taken_away)
    )
    return float(answer_given != answer_without)
