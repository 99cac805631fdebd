import json

import pytest

from bench_assets.annotation.responses.person_answers import PersonAnswer
from bench_assets.suites.cogbench.vqa.scoring import (
    human_accuracy,
    score_carefully,
    score_officially,
)
from bench_assets.suites.cogbench.vqa.task import TASK
from tests.fakes.rows import answered, question, scored

FOUR = {"kind": "choice", "answer": ("D",), "options": ("Ants", "Bees", "Cats", "Dogs")}


@pytest.mark.parametrize(
    ("response", "ours", "official"),
    [
        pytest.param("D", 1.0, 1.0, id="the letter"),
        pytest.param("D. Dogs", 1.0, 1.0, id="the letter and the text"),
        pytest.param("(D)", 1.0, 0.0, id="in brackets"),
        pytest.param("The answer is D", 1.0, 0.0, id="a sentence"),
        pytest.param("d", 1.0, 0.0, id="a small letter"),
        pytest.param("I cannot tell.", 0.0, 0.0, id="a refusal"),
    ],
)
def test_a_response_is_read_carefully_and_officially(response, ours, official):
    pair = answered(response, **FOUR)
    assert score_carefully(pair).points == ours
    assert score_officially(pair).points == official


def test_overall_is_the_micro_mean_in_all_rows_of_table_5(shared_data):
    tables = json.loads((shared_data / "published" / "cogbench.json").read_text())
    counts, rows = tables["table1_counts"]["QA"], tables["table5_vqa"]
    assert {k: int(n) for k, n in counts.items()} | {"all": 2577} == TASK.counts
    assert len(rows) == 10
    for model, row in rows.items():
        low, high = (overall(counts, row, side) for side in (-0.005, 0.005))  # printed: rounded
        assert low - 0.005 <= row["Overall"] <= high + 0.005, model


def overall(counts, row, side):
    mean = TASK.measures["accuracy"](
        [
            scored(points=float(i <= (row[kind] + side) * n), question_id=f"{kind}/{i}", **FOUR)
            for kind, n in counts.items()
            for i in range(1, int(n) + 1)
        ]
    )
    assert mean.n_scored == 2577
    return mean.value


QUESTIONS = [
    question(
        question_id="q1", kind="choice", options=tuple("abcd"), answer=("A",), category="Time"
    ),
    question(
        question_id="q2", kind="choice", options=tuple("abcd"), answer=("B",), category="Event"
    ),
]


def answers(*given):
    return [PersonAnswer(question_id=q, person=who, answer=letter) for who, q, letter in given]


def test_the_score_of_people_is_the_mean_of_their_accuracies():
    given = answers(("p", "q1", "A"), ("p", "q2", "B"), ("r", "q1", "C"), ("r", "q2", "B"))
    accuracy = human_accuracy(QUESTIONS, given)
    assert {category: mean.value for category, mean in accuracy.items()} == {
        "all": 0.75,  # one person has two of two right, the other one of two
        "Time": 0.5,
        "Event": 1.0,
    }


def test_a_question_that_nobody_answered_is_unscored():
    accuracy = human_accuracy(QUESTIONS, answers(("p", "q1", "A")))
    assert (accuracy["all"].value, accuracy["all"].n_unscored) == (1.0, 1)
