"""The shortcuts, on exams of a few questions that each gives away."""

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import pytest

from bench_assets.core.schema.rows import Question
from tests.fakes.fair_exam import shortcuts, unfair
from tests.fakes.rows import question


def exam_question(options: Sequence[str], right: str, **fields: Any) -> Question:
    """A question whose right option is named by its text."""
    return question(
        kind="choice", options=options, answer=(ascii_uppercase[options.index(right)],), **fields
    )


@pytest.mark.parametrize(
    ("name", "exam"),
    [
        pytest.param(
            "always the first option",
            [exam_question(("x", "y"), "x"), exam_question(("y", "x"), "y")],
            id="the key is always A",
        ),
        pytest.param(
            "the most frequent letter",
            [exam_question(("x", "y"), "y"), exam_question(("y", "x"), "x")],
            id="the key is always B",
        ),
        pytest.param(
            "the most frequent answer",
            [exam_question(("x", "y"), "y"), exam_question(("y", "x"), "y")],
            id="one of the options is always right",
        ),
        pytest.param(
            "the longest option",
            [
                exam_question(("it is so", "no"), "it is so"),
                exam_question(("a", "very much"), "very much"),
            ],
            id="the right option says most",
        ),
        pytest.param(
            "the number nearest to 3.25",
            [
                exam_question(("3", "9", "7"), "3"),
                exam_question(("8", "2", "6"), "2"),
                exam_question(("1", "4"), "4"),
            ],
            id="the right number is about 3",
        ),
        pytest.param(
            "the answer to the same question about another image",
            [
                exam_question(("red", "blue"), "blue", text="colour?", images=("1",)),
                exam_question(("blue", "red"), "blue", text="colour?", images=("2",)),
                exam_question(("cat", "dog"), "cat", text="animal?", images=("1",)),
                exam_question(("dog", "cat"), "cat", text="animal?", images=("2",)),
            ],
            id="the text of the question settles it",
        ),
        pytest.param(
            "the answer to the same question in the same context",
            [
                exam_question(("up", "down"), "up", text="where?", context="a", images=("1",)),
                exam_question(("down", "up"), "up", text="where?", context="a", images=("2",)),
                exam_question(("up", "down"), "down", text="where?", context="b", images=("1",)),
                exam_question(("down", "up"), "down", text="where?", context="b", images=("2",)),
            ],
            id="the context settles it",
        ),
    ],
)
def test_an_exam_that_a_shortcut_passes_is_unfair(name: str, exam: list[Question]) -> None:
    assert shortcuts([exam])[name] == 1.0
    assert name in unfair([exam])


def test_an_exam_in_which_every_option_is_right_as_often_as_any_other_is_fair() -> None:
    numbers = ("4", "5", "6", "7")
    exam = [exam_question(numbers, right, images=(f"{right}:7",)) for right in numbers]
    assert set(shortcuts([exam]).values()) <= {0.25, 0.0}
    assert unfair([exam]) == {}
