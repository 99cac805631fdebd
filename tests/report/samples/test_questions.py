from typing import Any

import pytest

from bench_assets.report.samples.questions import Sample, outcomes, samples_of
from tests.cases import read_cases


def sample(points: float | None, most: float = 1.0, **fields: Any) -> Sample:
    """A sample of the first question that was answered in full, but for the fields given."""
    defaults: dict[str, Any] = {"row": 0, "no_answer": False, "error": "", "finish_reason": "stop"}
    return Sample(points=points, max_points=most, **(defaults | fields))


@pytest.mark.parametrize(("samples", "letter", "shares"), read_cases(__file__, "letters.jsonl"))
def test_a_question_becomes_a_letter(samples, letter, shares):
    assert outcomes(1, [sample(**fields) for fields in samples]) == (letter, shares, [])


SCORES: dict[str, list[Any]] = {
    "question_id": ["b", "gone", "a", "b"],
    "sample": [1, 0, 0, 0],
    "points": [1.0, 1.0, 0.0, 0.0],
    "max_points": [1.0, 1.0, 1.0, 1.0],
    "no_answer": [False, False, False, False],
    "error": ["", "", "", ""],
    "refused": ["", "", "", ""],
    "unread": [False, False, True, False],
}
FINISH_REASONS = {("b", 1): "length", ("a", 0): "stop"}


def test_scores_are_joined_by_question_and_sample() -> None:
    samples = samples_of({"a": 0, "b": 1}, SCORES, FINISH_REASONS)
    assert [sample.row for sample in samples] == [1, 0, 1]
    assert [sample.points for sample in samples] == [1.0, 0.0, 0.0]
    assert [sample.finish_reason for sample in samples] == ["length", "stop", ""]


def test_unread_questions_are_listed_beside_letters_and_shares() -> None:
    """Question a is wrong and unread; b has half of its points, and a sample that is cut short."""
    samples = samples_of({"a": 0, "b": 1}, SCORES, FINISH_REASONS)
    assert outcomes(2, samples) == ("wP", [0.5], [0])
