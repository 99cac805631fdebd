"""Metrics of MCOT beside accuracy: consistency and hallucination (section 3.4)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from bench_assets.core.reading.numbers import parse_number
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.means import Mean, ScoredPoint, mean, product
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.suites.journeybench.answer_agreement import same_number
from bench_assets.suites.journeybench.mcot.image_references import HALLUCINATION


def by_label(question: Question) -> Sequence[str]:
    """Slice by the labels of Figure 5, of which a question may have several."""
    return question.category.split("; ") if question.category else ()


def consistency(scored: Sequence[ScoredQuestion]) -> Mean:
    """Share of problems with several images that are answered right with each image.

    The paper names consistency and gives no formula.
    """
    groups: dict[tuple[str, int], list[float | None]] = defaultdict(list)
    for question, score in scored:
        groups[question.group_id, score.sample].append(score.points)
    return mean(
        ScoredPoint(product(points), group)
        for (group, _), points in groups.items()
        if len(points) > 1
    )


def hallucination_rate(scored: Sequence[ScoredQuestion]) -> Mean:
    """Share of questions about absent objects that are answered wrong and with a number.

    A number means that the model saw the absent objects. Lower is better.
    """
    return mean(
        ScoredPoint(_hallucinated(scored_question), scored_question.question.cluster)
        for scored_question in scored
        if HALLUCINATION in by_label(scored_question.question)
    )


def _hallucinated(scored: ScoredQuestion) -> float | None:
    """1 if the answer is a wrong number, else 0; None if the question has no points."""
    question, score = scored
    if score.points is None:
        return None
    numbers, true_numbers = _parse_numbers(score.answer), _parse_numbers(question.answer)
    has_true_number = any(same_number(a, b) for a in numbers for b in true_numbers)
    is_right = score.points == 1 or has_true_number
    return float(bool(numbers) and not is_right)


def _parse_numbers(texts: Iterable[str]) -> list[float]:
    """Parse the texts that are numbers; the others are left out."""
    return [number for number in map(parse_number, texts) if number is not None]
