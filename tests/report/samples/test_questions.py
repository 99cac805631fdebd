"""What became of a question, a letter each: by pencil."""

from typing import Any

import pytest

from bench_assets.report.samples.questions import Sample, outcomes, samples_of


def of(points: float | None, most: float = 1.0, **more: object) -> Sample:
    """One sample of the first question."""
    return Sample(
        **{
            **{"row": 0, "points": points, "max_points": most, "no_answer": False, "error": ""},
            **{"finish_reason": "stop"},
            **more,
        }  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("samples", "letter", "shares"),
    [
        pytest.param([], "-", [], id="what was not asked"),
        pytest.param([of(1.0)], "r", [], id="all points are right"),
        pytest.param([of(0.0)], "w", [], id="no points are wrong"),
        pytest.param([of(1.0, 4.0)], "p", [0.25], id="a quarter of the points is partly right"),
        pytest.param([of(None)], "u", [], id="no points, and no word why, are unscored"),
        pytest.param([of(None, error="503")], "e", [], id="what failed is not merely unscored"),
        pytest.param([of(0.0, no_answer=True)], "n", [], id="cut off before an answer"),
        pytest.param(
            [of(0.0, no_answer=True, refused="content filter")], "x", [], id="refused for good"
        ),
        pytest.param([of(0.0, 0.0)], "o", [], id="where no points are given nothing is wrong"),
        pytest.param([of(None, 0.0)], "o", [], id="nor unscored"),
        pytest.param([of(0.0, finish_reason="length")], "W", [], id="cut short is a capital"),
        pytest.param(
            [of(1.0, finish_reason="length")], "R", [], id="what is cut short may be right"
        ),
        pytest.param([of(1.0), of(0.0), of(0.0)], "p", [0.3333], id="samples count by their mean"),
        pytest.param([of(1.0), of(None)], "u", [], id="one unscored sample leaves it unscored"),
        pytest.param([of(1.0), of(0.0, error="503")], "e", [], id="one that failed has it fail"),
        pytest.param(
            [of(1.0), of(0.0, no_answer=True)], "p", [0.5], id="one cut off is wrong among others"
        ),
        pytest.param([of(-1.0, 2.0)], "w", [], id="points below nothing are wrong"),
        pytest.param([of(3.0, 2.0)], "r", [], id="points beyond the most are right"),
    ],
)
def test_a_question_becomes_a_letter(
    samples: list[Sample], letter: str, shares: list[float]
) -> None:
    assert outcomes(1, samples) == (letter, shares, [])


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
