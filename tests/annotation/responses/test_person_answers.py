"""Answers of people are read, merged and checked, wherever they come from."""

import json

import pytest

from bench_assets.annotation.responses.person_answers import (
    merge_person_answers,
    person_answers_task,
)
from bench_assets.annotation.tasks import AnnotationTask, Field
from bench_assets.core.schema.errors import SourceError
from tests.fakes.answers import answer
from tests.fakes.rows import question

QUESTIONS = [question(question_id=name, kind="choice", options=("x", "y")) for name in "qr"]
FIELD = Field(name="answer", kind="choice", label="Your answer")
TASK = person_answers_task(
    AnnotationTask(name="t/human", title="", instructions="", fields=(FIELD,)), "t/questions", 2
)


def merge(tmp_path, *given, collected=()):
    file = tmp_path / "people.jsonl"
    lines = [{"question_id": q, "person": who, "answer": letter} for who, q, letter in given]
    file.write_text("\n".join(map(json.dumps, lines)))
    return merge_person_answers(file, collected, QUESTIONS)


def test_letters_may_be_in_brackets_and_collected_answers_replace_those_of_the_file(tmp_path):
    collected = TASK.to_rows([answer("q", "p", answer="B. y")])
    rows = merge(tmp_path, ("p", "q", "(a)\r"), ("p", "r", ""), collected=collected)
    assert {(row.person, row.question_id, row.answer) for row in rows} == {
        ("p", "q", "B"),
        ("p", "r", ""),
    }
    assert merge_person_answers(None, collected, QUESTIONS) == collected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param([("p", "s", "A")], "line 1: unknown question s", id="an unknown question"),
        pytest.param([("p", "q", "C")], "line 1: 'C' is not an option", id="an option too many"),
        pytest.param([("p", "q", "AB")], "line 1: 'AB' is not an option", id="two options"),
        pytest.param(
            [("p", "q", "A"), ("p", "q", "B")],
            r"line 2: the same person, question_id as in .* line 1",
            id="twice",
        ),
    ],
)
def test_an_answer_that_cannot_be_is_refused_by_line(tmp_path, given, message):
    with pytest.raises(SourceError, match=message):
        merge(tmp_path, *given)
