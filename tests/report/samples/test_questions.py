"""What became of a question, a letter each: by pencil."""

from typing import Any

import pytest

from bench_assets.report.samples.questions import Sample, outcomes, samples_of
from tests.cases import read_cases


def of(points: float | None, most: float = 1.0, **more: object) -> Sample:
    """One sample of the first question."""
    return Sample(
        **{
            **{"row": 0, "points": points, "max_points": most, "no_answer": False, "error": ""},
            **{"finish_reason": "stop"},
            **more,
        }  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("samples", "letter", "shares"), read_cases(__file__, "letters.jsonl"))
def test_a_question_becomes_a_letter(
    samples: list[dict[str, Any]], letter: str, shares: list[float]
) -> None:
    assert outcomes(1, [of(**sample) for sample in samples]) == (letter, shares, [])


def test_scores_are_joined_by_question_and_sample_never_by_their_place() -> None:
    scores: dict[str, list[Any]] = {
        "question_id": ["b", "gone", "a", "b"],
        "sample": [1, 0, 0, 0],
        **{"points": [1.0, 1.0, 0.0, 0.0], "max_points": [1.0] * 4},
        **{"no_answer": [False] * 4, "error": [""] * 4, "refused": [""] * 4},
        "unread": [False, False, True, False],
    }
    found = samples_of({"a": 0, "b": 1}, scores, {("b", 1): "length", ("a", 0): "stop"})
    assert [(one.row, one.points, one.finish_reason) for one in found] == [
        (1, 1.0, "length"),
        (0, 0.0, "stop"),
        (1, 0.0, ""),
    ]
    assert outcomes(2, found) == ("wP", [0.5], [0])
