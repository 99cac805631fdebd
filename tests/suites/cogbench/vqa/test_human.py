import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.cogbench.vqa.scoring import human_accuracy, read_human_answers
from tests.rows import question

ASKED = [
    question(
        question_id="q1", kind="choice", options=tuple("abcd"), answer=("A",), category="Time"
    ),
    question(
        question_id="q2", kind="choice", options=tuple("abcd"), answer=("B",), category="Event"
    ),
]


def answers(tmp_path, *given):
    file = tmp_path / "people.jsonl"
    lines = [{"question_id": q, "person": who, "answer": letter} for who, q, letter in given]
    file.write_text("\n".join(map(json.dumps, lines)))
    return read_human_answers(file)


def test_the_score_of_people_is_the_mean_of_their_accuracies(tmp_path):
    given = answers(
        tmp_path, ("p", "q1", "a"), ("p", "q2", "B"), ("r", "q1", "C"), ("r", "q2", "B")
    )
    found = human_accuracy(ASKED, given)
    assert {category: mean.value for category, mean in found.items()} == {
        "all": 0.75,  # one person has two of two right, the other one of two
        "Time": 0.5,
        "Event": 1.0,
    }


def test_a_question_that_nobody_answered_is_unscored(tmp_path):
    found = human_accuracy(ASKED, answers(tmp_path, ("p", "q1", "A")))
    assert (found["all"].value, found["all"].n_unscored) == (1.0, 1)


def test_answers_to_nothing_and_second_answers_are_refused(tmp_path):
    with pytest.raises(SourceError, match="1 unknown questions, such as q9"):
        human_accuracy(ASKED, answers(tmp_path, ("p", "q9", "A")))
    with pytest.raises(SourceError, match=r"line 2: the same person, question_id as in .* line 1"):
        answers(tmp_path, ("p", "q1", "A"), ("p", "q1", "B"))
