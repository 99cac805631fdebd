import pytest

from bench_assets.suites.journeybench.answer_agreement import (
    matches_truth,
    missing_steps,
    read_answer,
)
from tests.cases import read_rows
from tests.fakes.rows import question


@pytest.mark.parametrize(
    ("response", "truths", "is_match"), read_rows(__file__, "answer_agreement.jsonl", tuples=True)
)
def test_an_answer_matches_any_of_the_truths(response, truths, is_match):
    answer = read_answer(question(answer=tuple(truths)), response)
    assert any(matches_truth(answer, truth) for truth in truths) is is_match


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
def test_missing_steps_are_results_that_the_response_lacks_or_reorders(solution, response, missing):
    assert missing_steps(solution, response) == missing
