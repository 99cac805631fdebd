from string import ascii_uppercase

import numpy as np
import pytest

from bench_assets.audit.shortcuts.key_guesser import Cue, Exam, guess_finding, guess_keys
from tests.fakes.rows import question


def choice_question(n, key, options=("x", "y"), **fields):
    return question(
        question_id=f"q/{n}",
        kind="choice",
        options=options,
        answer=(ascii_uppercase[key],),
        **fields,
    )


def feature_cue(exam, values):
    """A cue with one feature, whose ``values`` are by question and option."""
    array = np.array(values, np.float32)[:, :, None]
    assert array.shape[:2] == exam.is_offered.shape
    return Cue("the feature", array.__getitem__)


def guess_rate(exam, cue, **options):
    """The rate of right guesses from one cue over all questions."""
    (guess,) = guess_keys(exam, [cue], by_category=False, **options)
    return guess.rate


KEYS = [0, 1] * 30
BALANCED = Exam.with_options([choice_question(n, key) for n, key in enumerate(KEYS)])


@pytest.mark.parametrize(
    ("n_right", "share"),
    [
        pytest.param(60, 1.0, id="a feature that only the right option has"),
        pytest.param(0, 1.0, id="a feature that only the wrong option has"),
        pytest.param(45, 0.75, id="a feature of the right option in three of four"),
    ],
)
def test_a_feature_is_learned_with_its_sign(n_right, share):
    marked = [key if n < n_right else 1 - key for n, key in enumerate(KEYS)]
    rate = guess_rate(BALANCED, feature_cue(BALANCED, np.eye(2)[marked]))
    assert (rate.share, rate.chance, rate.n) == (share, 0.5, 60)
    assert rate.is_significant


def test_nothing_is_learned_from_questions_of_the_same_cluster():
    """Each pair of questions shares an image, and a feature that no other pair has."""
    pairs = [choice_question(n, n // 2 % 2, images=(f"i{n // 2}",)) for n in range(60)]
    features = np.zeros((60, 2, 60), np.float32)
    features[np.arange(60), 0, np.arange(60) // 2] = 1
    cue = Cue("the pair", features.__getitem__)
    assert guess_rate(Exam.with_options(pairs), cue).share == 0.5


@pytest.mark.parametrize(
    ("n_a", "beats_place", "chance"),
    [
        pytest.param(45, True, 0.75, id="at the most frequent place"),
        pytest.param(45, False, 0.5, id="by chance if the place itself is tested"),
        pytest.param(10, True, 50 / 60, id="at the other place"),
    ],
)
def test_the_score_of_one_place_is_not_attributed_to_a_cue(n_a, beats_place, chance):
    exam = Exam.with_options([choice_question(n, int(n >= n_a)) for n in range(60)])
    cue = feature_cue(exam, [[1, 0]] * 60)
    assert guess_rate(exam, cue, beats_place=beats_place).chance == pytest.approx(chance)


def test_chance_is_the_mean_over_all_questions():
    """A quarter of two options, a quarter of four, half of eight: (1/2 + 1/4 + 2/8) / 4."""
    exam = Exam.with_options(
        [
            choice_question(n, n // 4 % n_options, tuple("abcdefgh"[:n_options]))
            for n, n_options in enumerate([2, 4, 8, 8] * 15)
        ]
    )
    cue = feature_cue(exam, np.zeros(exam.is_offered.shape))
    assert guess_rate(exam, cue, beats_place=False).chance == pytest.approx(0.25)


def test_a_cue_in_one_category_is_found_by_a_test_of_that_category():
    exam = Exam.with_options(
        [
            choice_question(n, key, category="even" if n % 4 < 2 else "odd")
            for n, key in enumerate(KEYS)
        ]
    )
    marked = [key if n % 4 < 2 else n // 4 % 2 for n, key in enumerate(KEYS)]
    guesses = guess_keys(exam, [feature_cue(exam, np.eye(2)[marked])])
    assert [guess.name for guess in guesses] == [
        "the feature", "the feature in even", "the feature in odd",
    ]  # fmt: skip
    finding = guess_finding(guesses, "a cue")
    assert "best is the feature in even, 100 % right" in finding.sentence
    assert not finding.passed


def test_answers_without_options_are_guessed_among_the_distinct_ones():
    texts = ["Yes."] * 30 + ["no"] * 15 + ["maybe", "red", "blue", "two"] * 3
    questions = [question(question_id=f"q/{n}", answer=(text,)) for n, text in enumerate(texts)]
    exam = Exam.with_frequent_answers(questions, "text")
    assert list(exam.options[0][:2]) == ["yes", "no"]
    assert exam.keys[:46].tolist() == [0] * 30 + [1] * 15 + [3]  # "maybe" is the fourth by name

    always_first = feature_cue(exam, [[1, 0, 0, 0, 0, 0]] * 57)
    rate = guess_rate(exam, always_first, beats_place=False)
    assert (rate.share, rate.chance) == (pytest.approx(30 / 57), pytest.approx(1 / 6))
