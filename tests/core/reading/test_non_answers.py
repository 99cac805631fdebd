"""What was never an answer is told apart from answers that speak of such things."""

from dataclasses import replace
from itertools import product

import pytest

from bench_assets.core.reading.non_answers import classify_non_answer
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByModel
from bench_resources.models.registry.baselines import ScriptedModel
from tests.cases import read_rows
from tests.fakes.any_responses import questions_of
from tests.fakes.rows import prediction, question
from tests.test_any_response import TASKS

ERROR, ECHO = "an error message", "an echo of the prompt"
ROWS = read_rows(__file__, "non_answers.jsonl")  # a kind, and a form of it with its GOLD


@pytest.mark.parametrize(("kind", "form"), ROWS)
@pytest.mark.parametrize("gold", ["A", "5", "the second image"])
def test_what_was_never_an_answer_has_a_kind(kind, form, gold):
    assert classify_non_answer(form.replace("GOLD", gold)) == kind


SERIES = "Which image continues the series of patterns?"
SHOWN = ("the second image", "the third image")


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (SERIES, ECHO),
        (f"{SERIES}\n(A) the second image\n(B) the third image", ECHO),
        (
            f"Question: {SERIES}\nOptions:\nA. the second image\nB. the third image\nAnswer:",
            ECHO,
        ),
        (f"{SERIES}\n(A) the second image\n(B) the third image\nAnswer: B", ""),
        (f"{SERIES} the second image", ""),
        (f"{SERIES} It is (B).", ""),
        ("Exception: the penguin", ""),
    ],
)
def test_the_repeated_prompt_is_no_answer(response, kind):
    assert classify_non_answer(response, SERIES, SHOWN) == kind


def scored(task, form, scorer):
    questions = [
        replace(question, question_id=f"t/{n}")
        for n, question in enumerate(questions_of(task.name))
    ]
    predictions = [
        prediction(
            question_id=question.question_id,
            text=form.replace("GOLD", (question.answer or ("A",))[0].rstrip(".。")),
        )
        for question in questions
    ]
    names = [name for name, judge in task.judges.items() if isinstance(judge, ByModel)]
    judge = ScriptedModel("judge", lambda _: "right") if names else None
    judged = (
        pipeline.judge(task, questions, predictions, judge, names[0] if names else "")
        if names
        else []
    )
    return pipeline.score(task, questions, predictions, judged, scorer)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_no_task_scores_what_was_never_an_answer(task):
    for kind, form in ROWS:
        for scorer in task.scorers:
            for score in scored(task, form, scorer):
                assert not score.points, (form, scorer)
                assert score.no_answer, form
                assert score.note == kind


# Answers that speak of errors, tools, code and objects: no more of them may be flagged than none.
SUBJECTS = read_rows(__file__, "ordinary_subjects.jsonl")
SENTENCES = read_rows(__file__, "ordinary_sentences.jsonl")
ENDS = ("", " I am sure.", "\n\nB")
ORDINARY = [
    sentence.replace("SUBJECT", subject) + end
    for subject, sentence, end in product(SUBJECTS, SENTENCES, ENDS)
]


def test_no_answer_that_speaks_of_errors_tools_or_code_is_flagged():
    assert len(set(ORDINARY)) > 2000
    assert [one for one in ORDINARY if classify_non_answer(one)] == []


@pytest.mark.parametrize(
    "response",
    read_rows(__file__, "ordinary_responses.jsonl"),
)
def test_an_ordinary_response_is_not_flagged(response):
    assert classify_non_answer(response, "Which one is raised?", ("KeyError", "safe")) == ""


def test_twelve_words_after_a_value_of_a_program_are_printed_by_it_too():
    assert (
        classify_non_answer("null one two three four five six seven eight nine ten eleven twelve")
        == ERROR
    )


def test_what_the_question_speaks_of_is_no_sign_of_an_error():
    text = "Which exception does the code raise, KeyError or IndexError?"
    assert classify_non_answer("KeyError: 'a'", text) == ""
    assert classify_non_answer("KeyError: 'a'", question(text="What is it?").text) == ERROR
