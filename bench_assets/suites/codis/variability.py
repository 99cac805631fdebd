"""How often an answer changes when the context is taken away (section 4.2, Table 4)."""

from collections.abc import Sequence

from bench_assets.core.rows import Prediction, Question
from bench_assets.core.stats import Mean, Point, mean
from bench_assets.suites.codis.answers import read_answer
from bench_assets.suites.codis.scoring import picture
from bench_assets.suites.codis.words import normalised


def output_variability(
    questions: Sequence[Question],
    with_context: Sequence[Prediction],
    without_context: Sequence[Prediction],
) -> Mean:
    """Average over queries whether the two answers of a model differ.

    The paper has people compare the outputs; here the answers that are read out of them are
    compared. A query without both replies is unscored.

    Args:
        questions: The queries to average over.
        with_context: One model's predictions, question by question (condition ``main``).
        without_context: The same model's, condition ``no_context``.
    """
    asked = {question.question_id: question for question in questions}
    given, taken_away = (
        {(p.question_id, p.sample): p for p in predictions if p.question_id in asked}
        for predictions in (with_context, without_context)
    )
    return mean(
        Point(_differ(asked[key[0]], given.get(key), taken_away.get(key)), picture(asked[key[0]]))
        for key in sorted(given.keys() | taken_away.keys())
    )


def _differ(
    question: Question, given: Prediction | None, taken_away: Prediction | None
) -> float | None:
    if given is None or taken_away is None or given.error or taken_away.error:
        return None
    one, other = (normalised(read_answer(question, p.text)) for p in (given, taken_away))
    return float(one != other)
