"""What agrees with a ground truth, by hand."""

import pytest

from bench_assets.suites.journeybench.answer_agreement import (
    matches_truth,
    missing_steps,
    read_answer,
)
from tests.cases import read_rows
from tests.fakes.rows import question


@pytest.mark.parametrize(
    ("response", "truths", "agreed"),
    read_rows(__file__, "answer_agreement.jsonl", tuples=True),
)
def test_a_response_agrees_with_a_truth(response, truths, agreed):
    answer = read_answer(question(answer=tuple(truths)), response)
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
