"""Scores rankings: R@k, the share of queries with a right candidate among the first k (4.1)."""

from collections.abc import Sequence

from bench_assets.core.metrics.retrieval import recall_at
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.evaluation.task import AnsweredQuestion, Measure, ScoredQuestion
from bench_assets.suites.journeybench.retrieval.dataset import IMAGE_RETRIEVAL, TEXT_RETRIEVAL

KS = (1, 5, 10)


def score(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Give a point if what is ranked first is right."""
    question, prediction = answered
    points = recall_at(1, prediction.ranking, question.answer)
    return Score.of(prediction, points=points, answer=prediction.ranking)


def recalls() -> dict[str, Measure]:
    """Make the measures: R@1, R@5 and R@10, for texts first."""
    return {
        f"{name}_r@{k}": _recall(direction, k)
        for name, direction in (("text", TEXT_RETRIEVAL), ("image", IMAGE_RETRIEVAL))
        for k in KS
    }


def by_image_category(question: Question) -> Sequence[str]:
    """Slice by what is unusual in the image (Figure 4); the measures tell directions apart."""
    return [name for name in question.labels["categories"].split("; ") if name]


def _recall(direction: str, k: int) -> Measure:
    def measure(scored: Sequence[ScoredQuestion]) -> Mean:
        """R@k; the captions of one image count as one cluster."""
        return mean(
            ScoredPoint(
                None if score.points is None else recall_at(k, score.answer, question.answer),
                question.cluster,
            )
            for question, score in scored
            if question.category == direction
        )

    return measure
