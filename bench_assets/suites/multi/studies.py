"""Information gain of images, their substitutes and knowledge (Tables 6 and 8)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from statistics import fmean

from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.suites.multi.scoring import max_points

BASELINES = {
    "main": "no_image",
    "captions_for_images": "no_image",
    "ocr_for_images": "no_image",
    "with_knowledge": "main",
}
"""Condition -> its baseline condition: Table 6; Table 8 for the last one."""

CONDITIONS = tuple(dict.fromkeys([*BASELINES, *BASELINES.values()]))


@dataclass(frozen=True, slots=True, kw_only=True)
class InformationGain:
    """Difference of a model's points between two conditions."""

    model: str
    condition: str
    compared_with: str
    category: str  # "all", SI or MI
    value: float  # score ratio under the condition, over the questions scored under both
    baseline: float
    gain: float  # in [-1, 1]
    low: float  # ends of the gain's 95 % interval, paired by question
    high: float
    n_questions: int


def compare_conditions(
    questions: Sequence[Question], scores: Mapping[str, Iterable[Score]], model: str
) -> list[InformationGain]:
    """Compare conditions over the questions that are scored under both."""
    points = {condition: _mean_points(rows) for condition, rows in scores.items()}
    return [
        _gain(slice_questions, points, model, condition, category)
        for condition in BASELINES
        for category, slice_questions in _categories(questions, condition).items()
    ]


def _mean_points(scores: Iterable[Score]) -> dict[str, float]:
    """Mean points of the scored draws of each question."""
    points: dict[str, list[float]] = defaultdict(list)
    for score in scores:
        if score.points is not None:
            points[score.question_id].append(score.points)
    return {name: fmean(question_points) for name, question_points in points.items()}


def _categories(questions: Sequence[Question], condition: str) -> Mapping[str, list[Question]]:
    """Questions by category: all for Table 8, those with one image and with several for Table 6."""
    with_points = [question for question in questions if max_points(question)]
    if condition == "with_knowledge":
        return {"all": with_points}
    return {
        name: [question for question in with_points if question.labels["images"] == name]
        for name in ("SI", "MI")
    }


def _gain(
    questions: Sequence[Question],
    points_by_condition: Mapping[str, Mapping[str, float]],
    model: str,
    condition: str,
    category: str,
) -> InformationGain:
    """Compare a condition with its baseline over the questions that have points under both."""
    compared_with = BASELINES[condition]
    points, baseline = points_by_condition[condition], points_by_condition[compared_with]
    paired_ids = points.keys() & baseline.keys()
    paired = [question for question in questions if question.question_id in paired_ids]
    # Intervals are computed in [0, 1]: differences in [-1, 1] are mapped there and back.
    mapped_differences = []
    for question in paired:
        name, possible = question.question_id, max_points(question)
        difference = (points[name] - baseline[name]) / possible
        point = ScoredPoint((1 + difference) / 2, question.cluster, weight=possible)
        mapped_differences.append(point)
    mapped_gain = mean(mapped_differences)
    return InformationGain(
        model=model,
        condition=condition,
        compared_with=compared_with,
        category=category,
        value=_score_ratio(paired, points),
        baseline=_score_ratio(paired, baseline),
        gain=2 * mapped_gain.value - 1,
        low=2 * mapped_gain.low - 1,
        high=2 * mapped_gain.high - 1,
        n_questions=len(paired),
    )


def _score_ratio(questions: Sequence[Question], points: Mapping[str, float]) -> float:
    """Points over possible points; NaN without questions."""
    won = sum(points[question.question_id] for question in questions)
    possible = sum(max_points(question) for question in questions)
    return won / possible if possible else nan
