from dataclasses import replace
from importlib import import_module

import pytest

from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Score
from bench_assets.evaluation.task import Condition
from bench_assets.testing import check_questions, check_suite
from tests.fakes.quiz import TASK, quiz

QUESTIONS = quiz(4, group=2)
NO_POINTS = {"none": lambda pair, _: Score.of(pair.prediction, points=0.0)}
ALL_POINTS = {"all": lambda pair, _: Score.of(pair.prediction, points=1.0)}
PERCENT = {"percent": lambda pair, _: Score.of(pair.prediction, points=100.0)}
FIRST_CHARACTER = {
    "first": lambda pair, _: Score.of(pair.prediction, points=float(pair.prediction.text[0] > ""))
}


TELLTALE = {"main": Condition(prompt=lambda q: Prompt.of(q.text + q.answer[0]), about="Otherwise.")}


@pytest.mark.parametrize(
    ("question_fields", "task_fields", "expected_message"),
    [
        pytest.param(
            {"question_id": "quiz/1"}, {}, "quiz: 2 questions have the id quiz/1", id="an id twice"
        ),
        pytest.param(
            {"group_id": "x"},
            {},
            "quiz, condition main: group x has 1 questions, expected [2]",
            id="a group that is not whole",
        ),
        pytest.param(
            {"category": "kind 9"},
            {"counts": {"kind 0": 3, "all": 4}},
            "quiz: 'kind 9' is not one of the paper's categories",
            id="an unknown category",
        ),
        pytest.param(
            {},
            {"conditions": TELLTALE},
            "quiz/0, condition main: its prompt depends on the answer",
            id="an answer given away",
        ),
        pytest.param(
            {},
            {"scorers": NO_POINTS},
            "quiz/0, condition main: the right answer gets 0.0 of 1.0 points",
            id="a right answer without points",
        ),
        pytest.param(
            {},
            {"scorers": ALL_POINTS},
            "quiz/0, condition main: an empty response gets full points",
            id="points for nothing",
        ),
        pytest.param(
            {},
            {"scorers": PERCENT},
            "quiz/0, condition main: the right answer gets 100.0 points, more than its max_points, "
            "1.0",
            id="per cent",
        ),
        pytest.param(
            {},
            {"scorers": FIRST_CHARACTER},
            "quiz/0, condition main: an empty response cannot be scored: IndexError: string index "
            "out of range; give it no points",
            id="an error at an empty response",
        ),
    ],
)
def test_a_broken_contract_is_named_with_a_question(question_fields, task_fields, expected_message):
    questions = [replace(QUESTIONS[0], **question_fields), *QUESTIONS[1:]]
    with pytest.raises(AssertionError) as raised:
        check_questions(replace(TASK, **task_fields), "main", questions, group_sizes=[2])
    assert str(raised.value) == expected_message


def test_a_published_edition_must_have_as_many_questions_as_in_the_paper():
    published = [replace(question, edition="published") for question in QUESTIONS]
    with pytest.raises(AssertionError, match="4 questions of all, the paper has 5"):
        check_questions(replace(TASK, counts={"all": 5}), "main", published)


@pytest.mark.long
@pytest.mark.parametrize("name", ["blink", "codis", "cogbench", "journeybench", "multi"])
def test_a_shipped_suite_keeps_the_contract(name):
    check_suite(import_module(f"bench_assets.suites.{name}.suite").SUITE)
