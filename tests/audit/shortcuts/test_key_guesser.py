"""The guesser, by pencil: what it learns, on which questions, and beside which chance."""

from string import ascii_uppercase

import numpy as np
import pytest

from bench_assets.audit.shortcuts.key_guesser import Cue, Guessable, guess_finding, guess_keys
from tests.fakes.rows import question


def exam_question(n, key, options=("x", "y"), **fields):
    return question(
        question_id=f"q/{n}",
        kind="choice",
        options=options,
        answer=(ascii_uppercase[key],),
        **fields,
    )


def feature(exam, values):
    """A cue with one feature of each option."""
    array = np.array(values, np.float32)[:, :, None]
    assert array.shape[:2] == exam.is_offered.shape
    return Cue("the feature", array.__getitem__)


def rate(exam, cue, **options):
    (guess,) = guess_keys(exam, [cue], by_category=False, **options)
    return guess.rate


KEYS = [0, 1] * 30
BALANCED = Guessable.with_options([exam_question(n, key) for n, key in enumerate(KEYS)])


@pytest.mark.parametrize(
    ("n_right", "share"),
    [
        pytest.param(60, 1.0, id="a feature that only the right option has"),
        pytest.param(0, 1.0, id="or only the wrong one"),
        pytest.param(45, 0.75, id="or the right one three times in four"),
    ],
)
def test_a_feature_is_learned_with_its_sign(n_right, share):
    marked = [key if n < n_right else 1 - key for n, key in enumerate(KEYS)]
    found = rate(BALANCED, feature(BALANCED, np.eye(2)[marked]))
    assert (found.share, found.chance, found.n) == (share, 0.5, 60)
    assert found.is_significant


def test_questions_of_one_cluster_teach_nothing_of_each_other():
    """Each pair of questions shares an image, and a feature that no other pair has."""
    pairs = [exam_question(n, n // 2 % 2, images=(f"i{n // 2}",)) for n in range(60)]
    exam = Guessable.with_options(pairs)
    features = np.zeros((60, 2, 60), np.float32)
    for row in range(60):
        features[row, 0, row // 2] = 1
    assert rate(exam, Cue("the pair", features.__getitem__)).share == 0.5


@pytest.mark.parametrize(
    ("n_a", "beats_place", "chance"),
    [
        pytest.param(45, True, 0.75, id="the most frequent place, if that is known elsewhere"),
        pytest.param(45, False, 0.5, id="one of the options, if it is what is tested"),
        pytest.param(10, True, 50 / 60, id="whichever place it is"),
    ],
)
def test_the_score_of_one_place_is_not_attributed_to_a_cue(n_a, beats_place, chance):
    exam = Guessable.with_options([exam_question(n, int(n >= n_a)) for n in range(60)])
    cue = feature(exam, [[1, 0]] * 60)
    assert rate(exam, cue, beats_place=beats_place).chance == pytest.approx(chance)


def test_chance_is_that_of_all_questions_together():
    """A quarter of two options, a quarter of four, half of eight: (1/2 + 1/4 + 2/8) / 4."""
    texts = "abcdefgh"
    sizes = [2, 4, 8, 8] * 15
    exam = Guessable.with_options(
        [exam_question(n, n // 4 % size, tuple(texts[:size])) for n, size in enumerate(sizes)]
    )
    cue = feature(exam, np.zeros(exam.is_offered.shape))
    assert rate(exam, cue, beats_place=False).chance == pytest.approx(0.25)


def test_categories_are_tested_apart_and_share_the_budget():
    exam = Guessable.with_options(
        [
            exam_question(n, key, category="even" if n % 4 < 2 else "odd")
            for n, key in enumerate(KEYS)
        ]
    )
    marked = [key if n % 4 < 2 else n // 4 % 2 for n, key in enumerate(KEYS)]
    guesses = guess_keys(exam, [feature(exam, np.eye(2)[marked])])
    assert [guess.name for guess in guesses] == [
        "the feature", "the feature in even", "the feature in odd",
    ]  # fmt: skip
    finding = guess_finding(guesses, "a cue")
    assert "best is the feature in even, 100 % right" in finding.sentence
    assert not finding.passed


def test_answers_without_options_are_guessed_among_the_most_frequent():
    texts = ["Yes."] * 30 + ["no"] * 15 + ["maybe", "red", "blue", "two"] * 3
    exam = Guessable.with_frequent_answers(
        [question(question_id=f"q/{n}", answer=(text,)) for n, text in enumerate(texts)], "text"
    )
    assert list(exam.options[0][:2]) == ["yes", "no"]
    assert exam.keys[:46].tolist() == [0] * 30 + [1] * 15 + [3]
    places = feature(exam, [[1, *[0] * 5]] * 57)
    found = rate(exam, places, beats_place=False)
    assert (found.share, found.chance) == (pytest.approx(30 / 57), pytest.approx(1 / 6))
