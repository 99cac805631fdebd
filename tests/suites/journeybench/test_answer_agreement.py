"""What agrees with a ground truth, by hand."""

import pytest

from bench_assets.suites.journeybench.answer_agreement import (
    matches_truth,
    missing_steps,
    read_answer,
)


@pytest.mark.parametrize(
    ("response", "truths", "agreed"),
    [
        ("Answer: 12", ("12 dollars",), True),
        ("Answer: twelve dollars", ("12",), True),
        ("Answer: 12.1", ("12",), True),
        ("Answer: 12.2", ("12",), False),
        ("Answer: 25", ("25%",), True),
        ("3 + 4 = 7 cups.", ("7",), True),
        ("No cups exist.", ("no cups exist", "0"), True),
        ("There are cups.\n\nThere is not any cup", ("no cups", "there is not any cup"), True),
        ("Answer: 0", ("no cups exist", "0"), True),
        ("Answer: 3", ("no cups exist", "0"), False),
        ("I do not know.", ("12",), False),
        ("12 or 13", ("12",), False),
        ("", ("12",), False),
    ],
)
def test_a_response_agrees_with_a_truth(response, truths, agreed):
    answer = read_answer(response, (), truths)
    assert any(matches_truth(answer, truth) for truth in truths) is agreed


@pytest.mark.parametrize(
    ("solution", "response", "missing"),
    [
        ("3*4 = $12", "x", ["12"]),
        ("x = -1,2.5", "x", ["-1,2.5"]),
        ("2+3=5\n5+2=7", "It comes to 7.", ["5"]),
        ("2+3=5\n5+2=7", "First 7, then 5.", ["7"]),
        ("2+3=5\n5+2=7", "First 5, then 7.", []),
    ],
)
def test_steps_that_a_response_does_not_state(solution, response, missing):
    assert missing_steps(solution, response) == missing
