"""What the checks between the tables find."""

import pytest

from bench_assets.defs.checks.evaluation_checks import missing_rows
from bench_assets.defs.checks.table_checks import question_problems
from tests.rows import prediction, question


@pytest.mark.parametrize(
    ("questions", "found"),
    [
        pytest.param([question()], [], id="a good question"),
        pytest.param(
            [question(), question()], ["t/1: 2 questions with this id"], id="one id twice"
        ),
        pytest.param([question(text=" ")], ["t/1: no text"], id="blank text"),
        pytest.param([question(answer=())], ["t/1: no answer"], id="no answer"),
        pytest.param([question(answer=("x", ""))], ["t/1: no answer"], id="an empty answer"),
        pytest.param(
            [question(kind="choice", options=("l", "r"), answer=("C",))],
            ["t/1: answer ('C',) is not among ['A', 'B']"],
            id="a letter that is not offered",
        ),
        pytest.param(
            [question(kind="choice", options=("l", "l"), answer=("A",))],
            ["t/1: equal options ('l', 'l')"],
            id="two options alike",
        ),
        pytest.param(
            [question(kind="choice", options=("<image>", "<image>"), answer=("A",))],
            [],
            id="two images as options",
        ),
    ],
)
def test_problems_of_a_question_table(questions, found):
    assert question_problems(questions) == found


def test_lost_and_surplus_rows_are_named():
    asked = [question(question_id=f"t/{n}") for n in (1, 2, 3)]
    rows = [prediction(question_id=f"t/{n}") for n in (1, 2, 2, 4)]
    assert missing_rows(asked, rows, samples=1) == [
        "t/2: 2 rows instead of 1",
        "t/3: 0 rows instead of 1",
        "t/4: no such question",
    ]
