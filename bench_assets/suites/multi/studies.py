"""Information gain of images, their substitutes and knowledge (Tables 6 and 8)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.suites.multi.scoring import max_points

BASELINES = {
    "main": "no_image",
    "captions_for_images": "no_image",
    "ocr_for_images": "no_image",
    "with_knowledge": "main",
}
"""Condition -> its baseline condition: Table 6; Table 8 for the last one."""

CONDITIONS = tuple(dict.fromkeys([*BASELINES, *BASELINES.values()]))
"""All compared conditions and their baselines."""


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
    points = {
        condition: {row.question_id: row.points for row in rows if row.points is not None}
        for condition, rows in scores.items()
    }
    return [
        _gain(slice_questions, points, model, condition, category)
        for condition in BASELINES
        for category, slice_questions in _categories(questions, condition).items()
    ]


def _categories(questions: Sequence[Question], condition: str) -> Mapping[str, list[Question]]:
    """Questions by category: all for Table 8, those with one image and with several for Table 6."""
    with_points = [question for question in questions if max_points(question)]
    if condition == "with_knowledge":
        return {"all": with_points}
    return {name: [q for q in with_points if q.labels["images"] == name] for name in ("SI", "MI")}


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
    paired = [q for q in questions if q.question_id in points and q.question_id in baseline]
    # Intervals are computed in [0, 1]: differences in [-1, 1] are mapped there and back.
    mapped_differences = []
    for q in paired:
        difference = (points[q.question_id] - baseline[q.question_id]) / max_points(q)
        mapped_difference = (1 + difference) / 2
        mapped_differences.append(ScoredPoint(mapped_difference, q.cluster, weight=max_points(q)))
    mapped_gain = mean(mapped_differences)
    return InformationGain(
        model=model,
        condition=condition,
        compared_with=compared_with,
        category=category,
        value=_ratio(paired, points).value,
        baseline=_ratio(paired, baseline).value,
        gain=2 * mapped_gain.value - 1,
        low=2 * mapped_gain.low - 1,
        high=2 * mapped_gain.high - 1,
        n_questions=len(paired),
    )


def _ratio(questions: Iterable[Question], points: Mapping[str, float]) -> Mean:
    """Points over possible points."""
    return mean(
        ScoredPoint(points[q.question_id] / max_points(q), q.cluster, weight=max_points(q))
        for q in questions
    )
