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
from tests.audit.simulated import (
    AnswersEvidence,
    draw_answers,
    evidence_of_answers,
    plant_wrong_keys,
)
from tests.fakes.rows import question

ABILITIES = [*np.linspace(-1, 2.5, 20)]


def model_answers(answers, key, n_options=4):
    n = len(key)
    return ModelAnswers(
        answers=np.array(answers, dtype=np.intp),
        key=np.array(key, dtype=np.intp),
        n_options=np.full(n, n_options),
        category=np.zeros(n, dtype=np.intp),
        is_open=np.zeros(n, dtype=bool),
    )


def test_models_are_estimated_to_know_nothing_or_all_by_their_answers():
    key = np.tile([0, 1, 2, 3], 50)
    random_letters = np.random.default_rng(1).integers(4, size=200)
    habits = estimate_habits(model_answers([np.zeros(200, int), key, random_letters], key))
    assert habits.knows[:, 0] == pytest.approx([0.0, 1.0, 0.0], abs=0.1)
    assert habits.guesses[0, 0].argmax() == 0  # A


def test_a_model_that_always_says_a_is_no_evidence_against_any_key():
    answers = model_answers([np.zeros(200, int)], np.tile([0, 1, 2, 3], 50))
    ratios, _ = wrong_key_ratios(answers, estimate_habits(answers), QuestionVariation(1.0, 0.3))
    assert np.abs(ratios).max() < 0.05


def test_the_ratio_of_a_wrong_key_is_that_calculated_by_hand():
    """Two options; no spread, hardly a lure: a model that knows 60 % and else tosses a coin.

    It says the key with 0.8 and the other with 0.2: three models against a key make 4 * 4 * 4.
    """
    key = np.array([0, 1] * 500)
    errs = np.arange(1000) % 10 < 2
    codes = np.stack([np.where(np.roll(errs, shift), 1 - key, key) for shift in (0, 3, 6)])
    codes[:, 0] = 1 - key[0]
    codes[:, 1] = key[1]
    answers = model_answers(codes, key, n_options=2)
    ratios, alternatives = wrong_key_ratios(
        answers, estimate_habits(answers), QuestionVariation(0.0, 1e-3)
    )
    assert ratios[0] == pytest.approx(np.log(64), rel=0.05)
    assert ratios[1] == pytest.approx(-np.log(64), rel=0.05)
    assert alternatives[0] == 1


@pytest.mark.parametrize(
    ("ratios", "least", "most"),
    [
        pytest.param(np.zeros(100), 0.99, 1.01, id="no information: even odds"),
        pytest.param(np.full(100, -3.0), 0.0, 0.7, id="all keys confirmed"),
        pytest.param(np.r_[np.full(98, -3.0), 9, 9], 20, np.inf, id="two keys contradicted"),
    ],
)
def test_contradicted_keys_raise_the_evidence_and_confirmed_keys_lower_it(ratios, least, most):
    evidence, *_ = evidence_of_wrong_keys(ratios)
    assert least <= evidence <= most


@pytest.mark.parametrize("seed", range(3))
def test_four_of_five_wrong_keys_in_two_hundred_are_among_the_first_suspects(seed):
    rng = np.random.default_rng(seed)
    codes, key = draw_answers(ABILITIES, 200, rng)
    planted, wrong = plant_wrong_keys(key, 5, rng)
    finding = suspected_keys(evidence_of_answers(codes, planted, categories=4))
    first_ten = {suspect.about for suspect in sort_suspects(finding.suspects)[:10]}
    assert not finding.passed
    assert len(wrong & first_ten) >= 4


def test_copies_of_a_model_count_as_one():
    codes, key = draw_answers([0.5, 1, 1.5], 200, np.random.default_rng(3))
    once = evidence_of_answers(codes, key)
    copied = evidence_of_answers(np.repeat(codes, 7, axis=0), key)
    matrix = read_answers(copied.main_results, copied.questions).matrix
    assert matrix.answers.tolist() == codes.tolist()
    assert suspected_keys(copied).sentence == suspected_keys(once).sentence


@pytest.mark.parametrize(
    ("category", "compared_questions"),
    [
        pytest.param("kind 0", "other questions of kind 0", id="one of many"),
        pytest.param("alone", "other questions", id="the only one of its category"),
        pytest.param("", "other questions", id="no category"),
    ],
)
def test_the_evidence_names_the_answers_and_the_accuracy_elsewhere(category, compared_questions):
    key = np.arange(160) % 4
    codes = np.tile(key, (5, 1))
    for model in range(5):  # each errs on twenty questions of its own
        codes[model, model::8] = (key[model::8] + 1 + np.arange(20) % 3) % 4
    codes[:, 159] = [1, 1, 1, 1, 3]  # the key says D
    answers = evidence_of_answers(codes, key)
    *others, last = answers.questions
    evidence = replace(answers, questions=[*others, replace(last, category=category)])

    first, *_ = sort_suspects(suspected_keys(evidence).suspects)

    assert first.about == "quiz/159"
    assert first.evidence.startswith(
        "4 of 5 models say B, the key says D (1 of them says so); they are right on 87% of the "
        f"{compared_questions}."
    )  # 139 of 159 each


def test_one_common_answer_other_than_the_key_is_evidence_without_options():
    """All models say "7" where the key says "eight"; each errs elsewhere in its own words."""
    questions = [
        question(question_id=f"quiz/{j}", answer=("eight" if j == 9 else f"number {j}",))
        for j in range(60)
    ]
    points = np.ones((6, 60))
    answers = np.array([[q.answer[0] for q in questions]] * 6, dtype=object)
    for model in range(6):
        points[model, 10 + model :: 10] = 0
        answers[model, 10 + model :: 10] = f"guess {model}"
    points[:, 9] = 0
    answers[:, 9] = "7"
    results = Results(
        models=tuple("abcdef"),
        questions=tuple(q.question_id for q in questions),
        points=points,
        answers=answers,
    )

    (suspect,) = suspected_keys(AnswersEvidence(questions, results)).suspects

    assert suspect.about == "quiz/9"
    assert "6 of 6 models say 7, the key says eight (none does)" in suspect.evidence


@pytest.mark.parametrize(
    ("codes", "key", "expected_reason"),
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
            id="two equal models",
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
def test_too_few_models_or_questions_skip_the_check(codes, key, expected_reason):
    finding = suspected_keys(evidence_of_answers(codes, key))
    assert finding.passed
    assert finding.skipped.startswith(expected_reason)
