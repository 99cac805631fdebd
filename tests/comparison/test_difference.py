"""Why a score moved: every planted cause is named, with what it did to the metric."""

from dataclasses import replace

import pytest

from bench_assets.comparison.difference import ADDED, REMOVED, decompose_difference
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.evaluation.task import ByRules
from tests.comparison.sides import side
from tests.fakes.measures import both_halves
from tests.fakes.quiz import TASK, quiz

RIGHT, WRONG = "x", "y"


def responses(right: str) -> dict[str, str]:
    """Responses to questions 0, 1, ...: ``"10"`` is right, then wrong."""
    return {f"quiz/{n}": RIGHT if one == "1" else WRONG for n, one in enumerate(right)}


def causes(before, after, task=TASK):
    """Every cause but the whole, with its effect rounded."""
    _, *rows = decompose_difference(task, before, after)
    return {row.cause: None if row.effect is None else round(row.effect, 6) for row in rows}


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        pytest.param({"decoding": "two|t=0,max=8"}, "model", id="another model"),
        pytest.param({"decoding": "one|t=0,max=9"}, "decoding", id="other tokens at most"),
        pytest.param({"decoding": "two|t=1,max=8"}, "model + decoding", id="not told apart"),
        pytest.param({"prompt_sha256": "q"}, "prompt", id="another prompt"),
        pytest.param({}, "asked again", id="all the same, but for the response"),
        pytest.param({"no_answer": "no answer in 8 tokens", "decoding": "one|t=0,max=1"},
                     "decoding + cut off before an answer", id="cut off"),
        pytest.param({"error": "timed out"}, "no response", id="no response"),
    ],
)  # fmt: skip
def test_other_responses_have_their_cause(fields, cause):
    old, new = side(quiz(2), responses("11")), side(quiz(2), responses("00"), **fields)
    effect = None if "error" in fields else -1
    assert causes(old, new) == {cause: effect}


def test_the_same_response_is_not_put_down_to_the_model():
    # Their rules read capital letters since; who responded cannot have moved the points.
    lenient = replace(TASK, scorers={**TASK.scorers, "lenient": lower_case})
    old = side(quiz(2), {"quiz/0": "X", "quiz/1": "x"}, task=lenient)
    new = side(
        quiz(2),
        {"quiz/0": "X", "quiz/1": "x"},
        task=lenient,
        scorer="lenient",
        decoding="two|t=0,max=8",
    )
    assert causes(old, new, lenient) == {"scorer": 0.5, "model + scorer": 0}


def lower_case(answered, _):
    right = answered.prediction.text.lower() in answered.question.answer
    return Score.of(answered.prediction, points=float(right))


@pytest.mark.parametrize(
    ("judge", "cause"),
    [("rules", "judge's verdict"), ("gpt", "judge")],
    ids=["the same judge says otherwise", "another judge"],
)
def test_judges_are_named(judge, cause):
    judged = replace(TASK, scorers={"judged": verdict}, judges={"rules": ByRules(lambda _: [])})

    def by(judge, word):
        about = [
            Judgement(
                question_id="quiz/0", model="m", condition="main", judge=judge, criterion="right",
                verdict=word,
            )
        ]  # fmt: skip
        return side(quiz(1), responses("1"), task=judged, judgements=about)

    assert causes(by("rules", True), by(judge, False), judged) == {cause: -1}


def verdict(answered, judgements):
    return Score.of(answered.prediction, points=float(bool(judgements[0].verdict)))


def test_questions_that_went_and_came_count_apart_from_those_that_changed():
    # Before: 1 1 0 0 = 0.5. Without the first two: 0. Question 3 is right then: 0.5; and so is 4.
    old = side(quiz(4), responses("1100"), decoding="one|t=0,max=8")
    new = side(quiz(5)[2:], dict(list(responses("00011").items())[2:]), decoding="two|t=0,max=8")
    assert causes(old, new) == {REMOVED: -0.5, "model": 0.5, ADDED: 0.166667}
    whole = decompose_difference(TASK, old, new)[0]
    assert whole.effect == pytest.approx(-0.5 + 0.5 + 1 / 6)


def test_causes_are_of_the_questions_that_both_have_points_for_and_lost_responses_beside_them():
    # Before: 1 1 0 0 = 1/2; after: - 0 1 1 = 2/3. Of the three that both have: 1/3, then 2/3.
    old = side(quiz(4), responses("1100"), decoding="one|t=0,max=8")
    new = side(quiz(4), responses("1011"), decoding="two|t=0,max=8")
    failed = [replace(new.predictions[0], error="timed out"), *new.predictions[1:]]
    scores = [replace(new.scores[0], points=None, error="timed out"), *new.scores[1:]]
    metrics = [replace(row, value=2 / 3) for row in new.metrics]
    new = replace(new, predictions=failed, scores=scores, metrics=metrics)
    assert causes(old, new) == {"no response": -0.166667, "model": 0.333333}
    assert causes(new, old) == {"no response": 0.166667, "model": -0.333333}


def test_questions_of_one_pair_have_their_causes_together():
    # The pair (0, 1) was right, and is not: question 0 has another model, 1 another prompt too.
    pairs = replace(TASK, measures={"acc_p": both_halves})
    old = side(quiz(4, group=2), responses("1111"), task=pairs)
    new = side(quiz(4, group=2), responses("0111"), task=pairs, decoding="two|t=0,max=8")
    prompts = [replace(new.predictions[1], prompt_sha256="q")]
    new = replace(new, predictions=[new.predictions[0], *prompts, *new.predictions[2:]])
    assert causes(old, new, pairs) == {"prompt + model": -0.5, "model": 0}


def test_a_changed_question_says_what_changed_and_takes_its_prompt_along():
    before = quiz(2)
    after = [before[0], replace(before[1], text="What else is 1?", answer=("y",))]
    old = side(before, responses("11"))
    new = side(after, {"quiz/0": "x", "quiz/1": "z"})
    new = replace(
        new,
        predictions=[new.predictions[0], replace(new.predictions[1], prompt_sha256="q")],
    )
    _, changed, *rest = decompose_difference(TASK, old, new)
    assert (changed.cause, changed.after.split(",")[0]) == ("question", "other text and answer")
    assert (changed.n, changed.effect, changed.examples) == (1, -0.5, ("quiz/1",))
    # The signatures tell of other questions and prompts, and nothing else moved.
    assert [(row.cause, row.n, row.effect) for row in rest] == []


def test_another_key_of_the_same_response_is_the_questions_doing():
    before = quiz(1)
    after = [replace(before[0], answer=("y",), labels={"checked": "yes"})]
    new = side(after, responses("1"), decoding="two|t=0,max=8")
    assert causes(side(before, responses("1")), new) == {"question": -1, "model": 0}


def test_what_differs_and_moved_nothing_is_listed_too():
    old, new = (
        side(quiz(2), responses("10")),
        side(quiz(2), responses("10"), decoding="one|t=0,max=9"),
    )
    assert causes(old, new) == {"decoding": 0}
    assert causes(old, old) == {}


def test_only_signatures_still_say_what_differs():
    old = replace(side(quiz(2), responses("11")), questions=(), predictions=(), scores=())
    new = side(quiz(2), responses("00"), decoding="two|t=0,max=8")
    assert causes(old, new) == {"model": None}
    assert decompose_difference(TASK, old, new)[0].effect == -1  # their tables of metrics say it


def test_what_the_scores_do_not_give_is_the_rest():
    old, new = side(quiz(4), responses("1100")), side(quiz(4), responses("1100"))
    new = replace(new, metrics=[replace(row, value=0.75) for row in new.metrics])
    assert causes(old, new) == {"rest": 0.25}
