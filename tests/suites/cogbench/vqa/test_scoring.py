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

CHOICE = {"kind": "choice", "answer": ("D",), "options": ("Ants", "Bees", "Cats", "Dogs")}


@pytest.mark.parametrize(
    ("response", "careful", "official"),
    [
        pytest.param("D", 1.0, 1.0, id="the letter"),
        pytest.param("D. Dogs", 1.0, 1.0, id="the letter and the text"),
        pytest.param("(D)", 1.0, 0.0, id="in brackets"),
        pytest.param("The answer is D", 1.0, 0.0, id="a sentence"),
        pytest.param("d", 1.0, 0.0, id="a small letter"),
        pytest.param("I cannot tell.", 0.0, 0.0, id="a refusal"),
    ],
)
def test_the_careful_scorer_reads_more_forms_than_the_official_one(response, careful, official):
    pair = answered(response, **CHOICE)
    assert score_carefully(pair).points == careful
    assert score_officially(pair).points == official


def test_overall_is_the_micro_mean_in_all_rows_of_table_5(shared_data):
    tables = json.loads((shared_data / "published" / "cogbench.json").read_text())
    counts, rows = tables["table1_counts"]["QA"], tables["table5_vqa"]
    assert {kind: int(n) for kind, n in counts.items()} | {"all": 2577} == TASK.counts
    assert len(rows) == 10
    for model, row in rows.items():
        # The paper rounds to two decimals.
        lowest = accuracy_with_shares(row, counts, offset=-0.005)
        highest = accuracy_with_shares(row, counts, offset=0.005)
        assert lowest - 0.005 <= row["Overall"] <= highest + 0.005, model


def accuracy_with_shares(shares, counts, *, offset):
    """Accuracy where a share and an offset of the questions of each kind are right."""
    questions = [
        scored(
            points=float(number <= (shares[kind] + offset) * n),
            question_id=f"{kind}/{number}",
            **CHOICE,
        )
        for kind, n in counts.items()
        for number in range(1, int(n) + 1)
    ]
    return TASK.measures["accuracy"](questions).value


QUESTIONS = [
    question(
        question_id="q1", kind="choice", options=tuple("abcd"), answer=("A",), category="Time"
    ),
    question(
        question_id="q2", kind="choice", options=tuple("abcd"), answer=("B",), category="Event"
    ),
]


def person_answer(person, question_id, letter):
    return PersonAnswer(question_id=question_id, person=person, answer=letter)


def test_the_human_score_is_the_mean_of_the_accuracies_of_people():
    answers = [
        person_answer("p", "q1", "A"),
        person_answer("p", "q2", "B"),
        person_answer("r", "q1", "C"),
        person_answer("r", "q2", "B"),
    ]
    accuracy = human_accuracy(QUESTIONS, answers)
    assert {category: mean.value for category, mean in accuracy.items()} == {
        "all": 0.75,  # one person has two of two right, the other one of two
        "Time": 0.5,
        "Event": 1.0,
    }
    assert accuracy["all"].n_clusters == 2  # several answers to a question are dependent


def test_a_question_without_an_answer_is_unscored():
    overall = human_accuracy(QUESTIONS, [person_answer("p", "q1", "A")])["all"]
    assert (overall.value, overall.n_unscored) == (1.0, 1)
