"""Wrong keys that are planted are found, right ones are left alone."""

from dataclasses import replace

import numpy as np
import pytest

from bench_assets.audit.framework.evidence import Results
from bench_assets.audit.framework.findings import sort_suspects
from bench_assets.audit.items.wrong_keys import (
    ModelAnswers,
    QuestionVariation,
    estimate_habits,
    evidence_of_wrong_keys,
    read_answers,
    suspected_keys,
    wrong_key_ratios,
)
from tests.audit.simulated import Answers, answers_of, responses, with_wrong_keys
from tests.fakes.rows import question

MIXED = [*np.linspace(-1, 2.5, 20)]


def model_answers(answers, key, n_options=4):
    n = len(key)
    return ModelAnswers(
        answers=np.array(answers, dtype=np.intp),
        key=np.array(key, dtype=np.intp),
        n_options=np.full(n, n_options),
        category=np.zeros(n, dtype=np.intp),
        open=np.zeros(n, dtype=bool),
    )


def test_a_model_that_always_says_a_knows_nothing_and_says_nothing_of_any_key():
    key = np.tile([0, 1, 2, 3], 50)
    coin = np.random.default_rng(1).integers(4, size=200)
    answers = model_answers([np.zeros(200, int), key, coin], key)
    found = estimate_habits(answers)
    assert found.knows[:, 0] == pytest.approx([0.0, 0.98, 0.0], abs=0.1)
    assert found.guesses[0, 0].argmax() == 0
    alone = model_answers([np.zeros(200, int)], key)
    ratios, _ = wrong_key_ratios(alone, estimate_habits(alone), QuestionVariation(1.0, 0.3))
    assert np.abs(ratios).max() < 0.05


def test_the_ratio_by_pencil():
    """Two options; no spread, hardly a lure: a model that knows 60 % and else tosses a coin.

    It says the key with 0.8 and the other with 0.2: three models against a key make 4 * 4 * 4.
    """
    key = np.array([0, 1] * 500)
    wrong = np.arange(1000) % 10 < 2
    codes = np.stack([np.where(np.roll(wrong, shift), 1 - key, key) for shift in (0, 3, 6)])
    codes[:, 0], codes[:, 1] = 1 - key[0], key[1]
    of = model_answers(codes, key, n_options=2)
    ratios, others = wrong_key_ratios(of, estimate_habits(of), QuestionVariation(0.0, 1e-3))
    assert ratios[0] == pytest.approx(np.log(64), rel=0.05)
    assert ratios[1] == pytest.approx(-np.log(64), rel=0.05)
    assert others[0] == 1


@pytest.mark.parametrize(
    ("ratios", "least", "most"),
    [
        pytest.param(np.zeros(100), 0.99, 1.01, id="answers that say nothing leave it at one"),
        pytest.param(np.full(100, -3.0), 0.0, 0.7, id="keys confirmed"),
        pytest.param(np.r_[np.full(98, -3.0), 9, 9], 20, np.inf, id="two keys contradicted"),
    ],
)
def test_the_evidence_that_some_keys_are_wrong(ratios, least, most):
    assert least <= evidence_of_wrong_keys(ratios)[0] <= most


@pytest.mark.parametrize("seed", range(3))
def test_five_wrong_keys_of_two_hundred_are_found(seed):
    rng = np.random.default_rng(seed)
    codes, key = responses(MIXED, 200, rng)
    planted, wrong = with_wrong_keys(key, 5, rng)
    found = suspected_keys(answers_of(codes, planted, categories=4))
    first = [one.about for one in sort_suspects(found.suspects)[:10]]
    assert not found.passed
    assert len(wrong & set(first)) >= 4


def test_models_that_are_copies_count_as_one():
    codes, key = responses([0.5, 1, 1.5], 200, np.random.default_rng(3))
    once, often = (answers_of(np.repeat(codes, n, axis=0), key) for n in (1, 7))
    assert read_answers(often.found, often.questions).matrix.answers.tolist() == codes.tolist()
    assert suspected_keys(often).sentence == suspected_keys(once).sentence


@pytest.mark.parametrize(
    ("category", "where"),
    [
        pytest.param("kind 0", "other questions of kind 0", id="one of many"),
        pytest.param("alone", "other questions", id="the only one of its category"),
        pytest.param("", "other questions", id="none"),
    ],
)
def test_the_evidence_says_who_says_what_and_how_often_they_are_right(category, where):
    key = np.arange(160) % 4
    codes = np.tile(key, (5, 1))
    for model in range(5):  # each errs on twenty questions of its own
        codes[model, model::8] = (key[model::8] + 1 + np.arange(20) % 3) % 4
    codes[:, 159] = [1, 1, 1, 1, 3]  # the key says D
    answers = answers_of(codes, key)
    *most, last = answers.questions
    evidence = replace(answers, questions=[*most, replace(last, category=category)])
    first = sort_suspects(suspected_keys(evidence).suspects)[0]
    assert first.about == "quiz/159"
    assert first.evidence.startswith(
        "4 of 5 models say B, the key says D (1 of them says so); they are right on 87% of the "
        f"{where}."
    )  # 139 of 159 each


def test_without_options_the_same_other_answer_is_the_evidence():
    """Texts: all strong models say "7", the key says "eight"; elsewhere they say the key."""
    n = 60
    questions = [
        question(question_id=f"quiz/{j}", answer=("eight" if j == 9 else f"number {j}",))
        for j in range(n)
    ]
    points = np.ones((6, n))
    answers = np.array([[one.answer[0] for one in questions]] * 6, dtype=object)
    for model in range(6):
        points[model, 10 + model :: 10], answers[model, 10 + model :: 10] = 0, f"guess {model}"
    points[:, 9], answers[:, 9] = 0, "7"
    results = Results(
        models=tuple("abcdef"),
        questions=tuple(one.question_id for one in questions),
        points=points,
        answers=answers,
    )
    found = suspected_keys(Answers(questions, results))
    assert [one.about for one in found.suspects] == ["quiz/9"]
    assert "6 of 6 models say 7, the key says eight (none does)" in found.suspects[0].evidence


@pytest.mark.parametrize(
    ("codes", "key", "why"),
    [
        pytest.param(
            np.zeros((0, 30), int),
            np.zeros(30, int),
            "models with answers of their own: 0",
            id="no model",
        ),
        pytest.param(
            np.zeros((2, 30), int),
            np.arange(30) % 4,
            "models with answers of their own: 1",
            id="two the same",
        ),
        pytest.param(
            np.arange(40).reshape(4, 10) % 3,
            np.arange(10) % 4,
            "questions with answers: 10",
            id="few questions",
        ),
        pytest.param(
            np.arange(4)[:, None].repeat(40, 1), np.arange(40) % 4, "no model", id="constant models"
        ),
    ],
)
def test_what_cannot_be_looked_at_says_why(codes, key, why):
    found = suspected_keys(answers_of(codes, key))
    assert found.passed
    assert found.skipped.startswith(why)
