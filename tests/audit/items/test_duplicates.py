"""Questions that ask the same: what looks alike, and when it is more than chance."""

from dataclasses import replace

import numpy as np
import pytest

from bench_assets.audit.items.duplicates import redundant_questions, similar_pairs
from tests.audit.simulated import Answers, points_of, solved
from tests.fakes.rows import question

DOG = ("d" * 64,)
CAT = ("c" * 64,)
QUESTION = question(question_id="one", text="What colour is the big dog?", images=DOG)


@pytest.mark.parametrize(
    ("other", "pairs"),
    [
        pytest.param({"text": "What colour is the small dog?"}, 1, id="one other word"),
        pytest.param({"text": "How many legs has a chair?"}, 0, id="another question"),
        pytest.param({"text": "What colour is the small dog?", "images": CAT}, 0, id="other image"),
        pytest.param({}, 0, id="a copy is for the duplicates"),
        pytest.param({"options": ("red", "blue")}, 1, id="the same with options"),
    ],
)
def test_what_looks_alike(other, pairs):
    two = [QUESTION, replace(QUESTION, question_id="other", **other)]
    assert len(list(similar_pairs(two))) == pairs


def test_halves_of_a_pair_ask_different_things_on_purpose():
    halves = [
        replace(QUESTION, question_id=one, context=one, group_id="pair") for one in ("a", "b")
    ]
    assert not list(similar_pairs(halves))


def test_a_form_that_many_questions_have_says_nothing():
    questions = [question(question_id=str(n), text=f"What is {n}?") for n in range(50)]
    assert not list(similar_pairs(questions))


def evidence(n_models, copied):
    rng = np.random.default_rng(7)
    points = solved(np.linspace(-1, 1, n_models), np.ones(200), rng.normal(0, 1, 200), rng)
    made = points_of(points.astype(float))
    scores, questions = made.found.points, list(made.questions)
    for j in range(0, 200, 2):  # a hundred pairs on one image each
        for number, size in ((j, "big"), (j + 1, "small")):
            text = f"What colour is the {size} dog?"
            questions[number] = replace(questions[number], text=text, images=(f"{j:064d}",))
    for j in copied:
        scores[:, j], scores[:, j + 1] = (scores[:, j - 1] > 0) ^ (np.arange(n_models) % 2 > 0), 0
        scores[:, j + 1] = scores[:, j]
    return Answers(questions, replace(made.found, points=scores))


def test_pairs_that_are_answered_each_on_its_own_pass():
    found = redundant_questions(evidence(20, []))
    assert found.passed
    assert found.n == 100


def test_a_pair_that_is_solved_by_the_same_models_is_found():
    found = redundant_questions(evidence(20, [50]))
    assert not found.passed
    assert [one.about for one in found.suspects] == ["quiz/51"]
    assert "Looks like quiz/50, and all of 20 models" in found.suspects[0].evidence


def test_with_few_models_the_check_is_skipped():
    found = redundant_questions(evidence(6, [50]))
    assert found.passed
    assert found.skipped.startswith("models with scores: 6; 8 are needed")


def test_where_nothing_looks_alike_it_says_so():
    made = evidence(9, [])
    apart = [replace(one, images=()) for one in made.questions[:1]]
    found = redundant_questions(replace(made, questions=apart))
    assert found.passed
    assert found.skipped.startswith("no similar questions")
