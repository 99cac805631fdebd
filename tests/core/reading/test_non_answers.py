from dataclasses import replace
from itertools import product

import pytest

from bench_assets.core.reading.non_answers import classify_non_answer
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByModel
from bench_resources.models.registry.baselines import ScriptedModel
from tests.cases import read_rows
from tests.fakes.any_responses import questions_of
from tests.fakes.rows import prediction
from tests.test_any_response import TASKS

ERROR, ECHO = "an error message", "an echo of the prompt"
NON_ANSWERS = read_rows(__file__, "non_answers.jsonl")  # a kind, and a text with GOLD in it


@pytest.mark.parametrize(("kind", "text"), NON_ANSWERS)
@pytest.mark.parametrize("gold", ["A", "5", "the second image"])
def test_a_non_answer_has_a_kind_even_if_it_has_the_gold(kind, text, gold):
    assert classify_non_answer(text.replace("GOLD", gold)) == kind


SERIES = "Which image continues the series of patterns?"
OPTIONS = ("the second image", "the third image")


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (SERIES, ECHO),
        (f"{SERIES}\n(A) the second image\n(B) the third image", ECHO),
        (f"Question: {SERIES}\nOptions:\nA. the second image\nB. the third image\nAnswer:", ECHO),
        (f"{SERIES}\n(A) the second image\n(B) the third image\nAnswer: B", ""),
        (f"{SERIES} the second image", ""),
        (f"{SERIES} It is (B).", ""),
        ("Exception: the penguin", ""),
    ],
)
def test_a_repeated_prompt_is_no_answer_unless_an_answer_follows(response, kind):
    assert classify_non_answer(response, SERIES, OPTIONS) == kind


def score_text(task, text, scorer):
    """Score a text, with the key for GOLD, as response to each question; the judge agrees."""
    questions = [
        replace(row, question_id=f"t/{n}") for n, row in enumerate(questions_of(task.name))
    ]
    predictions = []
    for row in questions:
        gold, *_ = row.answer or ("A",)
        response = text.replace("GOLD", gold.rstrip(".。"))
        predictions.append(prediction(question_id=row.question_id, text=response))
    model_judges = [name for name, judge in task.judges.items() if isinstance(judge, ByModel)]
    judgements = []
    if model_judges:
        judge = ScriptedModel("judge", lambda _: "right")
        judgements = pipeline.judge(task, questions, predictions, judge, model_judges[0])
    return pipeline.score(task, questions, predictions, judgements, scorer)


@pytest.mark.parametrize(
    ("task", "scorer"),
    [
        pytest.param(task, scorer, id=f"{task.name}, {scorer}")
        for task in TASKS
        for scorer in task.scorers
    ],
)
def test_no_scorer_gives_points_for_a_non_answer(task, scorer):
    for kind, text in NON_ANSWERS:
        scores = score_text(task, text, scorer)
        assert scores, text
        for score in scores:
            assert not score.points, text
            assert score.no_answer, text
            assert score.note == kind


# Answers that mention errors, tools, code and objects; none of them may be classified.
SUBJECTS = read_rows(__file__, "ordinary_subjects.jsonl")
SENTENCES = read_rows(__file__, "ordinary_sentences.jsonl")
ENDINGS = ("", " I am sure.", "\n\nB")
ORDINARY_ANSWERS = [
    sentence.replace("SUBJECT", subject) + ending
    for subject, sentence, ending in product(SUBJECTS, SENTENCES, ENDINGS)
]


def test_no_answer_that_mentions_errors_tools_or_code_is_classified():
    assert len(set(ORDINARY_ANSWERS)) > 2000
    assert [answer for answer in ORDINARY_ANSWERS if classify_non_answer(answer)] == []


@pytest.mark.parametrize("response", read_rows(__file__, "ordinary_responses.jsonl"))
def test_an_ordinary_response_is_not_classified(response):
    assert classify_non_answer(response, "Which one is raised?", ("KeyError", "safe")) == ""


def test_null_with_up_to_twelve_words_is_an_error_message():
    response = "null one two three four five six seven eight nine ten eleven twelve"
    assert classify_non_answer(response) == ERROR


@pytest.mark.parametrize(
    ("question_text", "kind"),
    [("Which exception is raised, KeyError or IndexError?", ""), ("What is it?", ERROR)],
)
def test_an_exception_that_the_question_mentions_is_no_error_message(question_text, kind):
    assert classify_non_answer("KeyError: 'a'", question_text) == kind
