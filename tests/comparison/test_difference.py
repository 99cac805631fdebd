from dataclasses import replace

import pytest

from bench_assets.comparison.difference import ADDED, REMOVED, decompose_difference
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.evaluation.task import ByRules
from tests.cases import read_cases
from tests.comparison.sides import build_evaluation
from tests.fakes.measures import both_halves
from tests.fakes.quiz import TASK, quiz

RIGHT, WRONG = "x", "y"


def responses(right: str) -> dict[str, str]:
    """Responses to questions 0, 1, ...: ``"10"`` is right, then wrong."""
    return {f"quiz/{n}": RIGHT if digit == "1" else WRONG for n, digit in enumerate(right)}


def rounded_effects(before, after, task=TASK):
    """The effect of each cause, without the row of the whole difference."""
    _, *rows = decompose_difference(task, before, after)
    return {row.cause: None if row.effect is None else round(row.effect, 6) for row in rows}


@pytest.mark.parametrize(("fields", "cause", "effect"), read_cases(__file__, "changes.jsonl"))
def test_each_kind_of_change_has_its_cause(fields, cause, effect):
    old = build_evaluation(quiz(2), responses("11"))
    new = build_evaluation(quiz(2), responses("00"), **fields)
    assert rounded_effects(old, new) == {cause: effect}


def test_the_same_response_is_not_put_down_to_the_model():
    # The new scorer reads capital letters; the model cannot have moved the points.
    lenient = replace(TASK, scorers={**TASK.scorers, "lenient": score_lower_case})
    old = build_evaluation(quiz(2), {"quiz/0": "X", "quiz/1": "x"}, task=lenient)
    new = build_evaluation(
        quiz(2),
        {"quiz/0": "X", "quiz/1": "x"},
        task=lenient,
        scorer="lenient",
        decoding="two|t=0,max=8",
    )
    assert rounded_effects(old, new, lenient) == {"scorer": 0.5, "model + scorer": 0}


def score_lower_case(answered, _):
    is_right = answered.prediction.text.lower() in answered.question.answer
    return Score.of(answered.prediction, points=float(is_right))


@pytest.mark.parametrize(
    ("judge", "cause"),
    [("rules", "judge's verdict"), ("gpt", "judge")],
    ids=["another verdict of the same judge", "another judge"],
)
def test_another_judge_and_another_verdict_are_told_apart(judge, cause):
    before, after = evaluate_judged("rules", verdict=True), evaluate_judged(judge, verdict=False)
    assert rounded_effects(before, after, JUDGED) == {cause: -1}


def evaluate_judged(judge, verdict):
    """One response with a verdict of this judge."""
    judgement = Judgement(
        question_id="quiz/0", model="m", condition="main", judge=judge, criterion="right",
        verdict=verdict,
    )  # fmt: skip
    return build_evaluation(quiz(1), responses("1"), task=JUDGED, judgements=[judgement])


def score_by_verdict(answered, judgements):
    return Score.of(answered.prediction, points=float(bool(judgements[0].verdict)))


JUDGED = replace(
    TASK, scorers={"judged": score_by_verdict}, judges={"rules": ByRules(lambda _: [])}
)


def test_removed_and_added_questions_have_effects_of_their_own():
    # Before: 1 1 0 0 = 1/2. Removed are 0 and 1: 0. Question 3 is right now: 1/2; with 4, 2/3.
    old = build_evaluation(quiz(4), responses("1100"), decoding="one|t=0,max=8")
    new_responses = {"quiz/2": WRONG, "quiz/3": RIGHT, "quiz/4": RIGHT}
    new = build_evaluation(quiz(5)[2:], new_responses, decoding="two|t=0,max=8")
    assert rounded_effects(old, new) == {REMOVED: -0.5, "model": 0.5, ADDED: 0.166667}
    whole, *_ = decompose_difference(TASK, old, new)
    assert whole.effect == pytest.approx(-0.5 + 0.5 + 1 / 6)


def test_lost_responses_are_a_cause_and_the_model_moves_only_the_other_questions():
    # Before: 1 1 0 0 = 1/2; after: - 0 1 1 = 2/3. Questions 1 to 3 alone: 1/3, then 2/3.
    old = build_evaluation(quiz(4), responses("1100"), decoding="one|t=0,max=8")
    new = build_evaluation(quiz(4), responses("1011"), decoding="two|t=0,max=8")
    failed = [replace(new.predictions[0], error="timed out"), *new.predictions[1:]]
    scores = [replace(new.scores[0], points=None, error="timed out"), *new.scores[1:]]
    metrics = [replace(row, value=2 / 3) for row in new.metrics]
    new = replace(new, predictions=failed, scores=scores, metrics=metrics)
    assert rounded_effects(old, new) == {"no response": -0.166667, "model": 0.333333}
    assert rounded_effects(new, old) == {"no response": 0.166667, "model": -0.333333}


def test_questions_of_one_pair_have_their_causes_together():
    # The pair (0, 1) was right and is wrong: both have another model, question 1 another prompt.
    pairs = replace(TASK, measures={"acc_p": both_halves})
    old = build_evaluation(quiz(4, group=2), responses("1111"), task=pairs)
    new = build_evaluation(
        quiz(4, group=2), responses("0111"), task=pairs, decoding="two|t=0,max=8"
    )
    first, second, *rest = new.predictions
    new = replace(new, predictions=[first, replace(second, prompt_sha256="q"), *rest])
    assert rounded_effects(old, new, pairs) == {"prompt + model": -0.5, "model": 0}


def test_a_changed_question_is_the_cause_and_its_changed_prompt_is_none():
    before = quiz(2)
    after = [before[0], replace(before[1], text="What else is 1?", answer=("y",))]
    old = build_evaluation(before, responses("11"))
    new = build_evaluation(after, {"quiz/0": "x", "quiz/1": "z"})
    new = replace(
        new, predictions=[new.predictions[0], replace(new.predictions[1], prompt_sha256="q")]
    )
    _, changed = decompose_difference(TASK, old, new)
    assert (changed.cause, changed.after) == ("question", "other text and answer")
    assert (changed.n, changed.effect, changed.examples) == (1, -0.5, ("quiz/1",))


def test_a_changed_key_is_a_change_of_the_question():
    before = quiz(1)
    after = [replace(before[0], answer=("y",), labels={"checked": "yes"})]
    new = build_evaluation(after, responses("1"), decoding="two|t=0,max=8")
    assert rounded_effects(build_evaluation(before, responses("1")), new) == {
        "question": -1,
        "model": 0,
    }


def test_a_difference_without_an_effect_is_listed():
    old = build_evaluation(quiz(2), responses("10"))
    new = build_evaluation(quiz(2), responses("10"), decoding="one|t=0,max=9")
    assert rounded_effects(old, new) == {"decoding": 0}
    assert rounded_effects(old, old) == {}


def test_without_predictions_the_signatures_name_the_cause():
    old = replace(
        build_evaluation(quiz(2), responses("11")), questions=(), predictions=(), scores=()
    )
    new = build_evaluation(quiz(2), responses("00"), decoding="two|t=0,max=8")
    assert rounded_effects(old, new) == {"model": None}
    whole, _ = decompose_difference(TASK, old, new)
    assert whole.effect == -1  # 0 of 2 instead of 2 of 2, by the tables of metrics


def test_a_change_that_the_scores_do_not_explain_is_the_rest():
    old = build_evaluation(quiz(4), responses("1100"))
    new = replace(old, metrics=[replace(row, value=0.75) for row in old.metrics])
    assert rounded_effects(old, new) == {"rest": 0.25}
