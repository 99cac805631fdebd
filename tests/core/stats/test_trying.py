"""Sums of cells with their intervals, and what many models say together."""

from dataclasses import replace
from math import inf, isnan, nan, sqrt

import pytest
from scipy.stats import t as student

from bench_assets.core.schema.published_numbers import Cell, Claim, Term
from bench_assets.core.stats.claim_tests import (
    ClaimNumber,
    Difference,
    claim_difference,
    difference_from_interval,
    evaluate_claims,
)
from bench_assets.core.stats.means import student_p

CELL = Cell(task="quiz", metric="accuracy")


def claim(*weights, of="every model", margin=0.0):
    terms = tuple(Term(weight=one, cell=CELL) for one in weights)
    return Claim(name="c", section="1", sentence="So it is.", terms=terms, of=of, margin=margin)


def together(values, of, n=100, half=0.01, p=0.001):
    """The row of all models, of which each differs by one of the values."""
    each = {f"m{i}": value for i, value in enumerate(values)}
    one = claim(1.0, -1.0, of=of)
    found = evaluate_claims(
        *("quiz", [one], "measured", {"c": list(each)}),
        lambda _, m: Difference(each[m], each[m] - half, each[m] + half, p, n, ""),
    )
    return found[0]


def test_distances_of_the_ends_add_up_as_squares():
    numbers = [ClaimNumber("a", 0.8, 0.77, 0.84, 40), ClaimNumber("b", 0.5, 0.48, 0.54, 30)]
    found = claim_difference(claim(1.0, -1.0, margin=0.1), numbers)
    assert found.value == pytest.approx(0.2)
    assert found.low == pytest.approx(0.2 - sqrt(0.03**2 + 0.04**2))
    assert found.high == pytest.approx(0.2 + sqrt(0.04**2 + 0.02**2))
    assert found.n == 30


def test_a_p_value_is_one_in_twenty_where_an_end_is_0():
    found = claim_difference(claim(1.0), [ClaimNumber("a", 0.1, 0.0, 0.3, 9)])
    assert found.p == pytest.approx(0.05)


def test_what_is_computed_has_no_part_in_the_interval():
    numbers = [ClaimNumber("a", 0.5, 0.4, 0.6, 20), ClaimNumber("chance", 0.25, 0.25, 0.25, 0)]
    found = claim_difference(claim(1.0, -1.0), numbers)
    assert (found.low, found.high) == pytest.approx((0.15, 0.35))
    assert found.n == 20


def test_what_is_only_computed_is_of_nobody_knows_how_many():
    assert claim_difference(claim(1.0), [ClaimNumber("chance", 0.25, 0.25, 0.25, 0)]).n == 0
    assert claim_difference(claim(1.0), [ClaimNumber("printed", 0.25, nan, nan, 30)]).n == 30


@pytest.mark.parametrize(("low", "high"), [(nan, 0.3), (0.05, nan), (nan, nan), (-inf, inf)])
def test_with_one_end_alone_nobody_knows_how_sure_a_difference_is(low, high):
    found = difference_from_interval(0.1, low, high, 9, "")
    assert (isnan(found.low), isnan(found.high), found.p) == (True, True, None)


def test_without_an_interval_nothing_is_told():
    row = together([0.5], "every model", half=nan, p=None)
    assert (row.verdict, row.p) == ("cannot be told", None)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10, 30, 31])
@pytest.mark.parametrize("t", [0.0, 0.3, 2.0, 12.7])
def test_students_t(freedom, t):
    assert student_p(t, freedom) == pytest.approx(2 * student.sf(t, freedom), abs=1e-12)


def test_the_mean_over_models_by_pencil():
    # 0.1, 0.2, 0.3: the mean is 0.2, its error 0.1 / sqrt(3), Student's t of 2 is 4.303.
    row = together([0.1, 0.2, 0.3], "models on average")
    assert row.value == pytest.approx(0.2)
    ends = (0.2 - 4.3027 * 0.1 / sqrt(3), 0.2 + 4.3027 * 0.1 / sqrt(3))
    assert (row.low, row.high) == pytest.approx(ends, abs=1e-4)
    assert row.verdict == "cannot be told"


@pytest.mark.parametrize(
    ("n", "verdict"),
    [
        pytest.param(3, "cannot be told", id="three models alike on three questions"),
        pytest.param(500, "holds", id="three models alike on 500 questions"),
    ],
)
def test_models_that_agree_on_few_questions_are_not_certain(n, verdict):
    assert together([0.1] * 3, "models on average", n=n).verdict == verdict


@pytest.mark.parametrize(
    ("values", "p", "verdict"),
    [
        pytest.param([0.1, 0.2], 0.001, "holds", id="all as claimed"),
        pytest.param([0.1, -0.2], 0.001, "does not hold", id="one against it"),
        pytest.param([0.1, -0.2], 0.03, "cannot be told", id="one against it, one in 17 of two"),
        pytest.param([0.1, 0.2], 0.06, "cannot be told", id="as claimed, and may be chance"),
        pytest.param([0.1, 0.0], 1.0, "cannot be told", id="one without a difference"),
    ],
)
def test_what_is_said_of_every_model(values, p, verdict):
    assert together(values, "every model", p=p).verdict == verdict


@pytest.mark.parametrize(
    ("value", "p"),
    [
        pytest.param(0.0, 1.0, id="no difference, known to the digit"),
        pytest.param(0.1, 0.0, id="a difference that is known to the digit"),
        pytest.param(-0.1, 0.0, id="as much against it"),
    ],
)
def test_a_difference_without_any_doubt(value, p):
    found = difference_from_interval(value, value, value, 9, "")
    assert (found.low, found.high, found.p) == (value, value, p)


def test_of_what_is_below_nothing_the_upper_end_says_how_sure_it_is():
    assert difference_from_interval(-0.1, -0.9, 0.0, 9, "").p == pytest.approx(0.05)
    assert difference_from_interval(0.1, 0.0, 0.9, 9, "").p == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("values", "of", "said"),
    [
        pytest.param(
            [0.0, 0.2],
            "models on average",
            "as claimed for 1 of 2 models; the mean over models, with the spread between them, on"
            " these questions",
            id="one without a difference is not as claimed",
        ),
        pytest.param([0.2], "models on average", "as claimed for 1 of 1 models: ", id="one model"),
        pytest.param(
            [0.1, -0.2, -0.1],
            "every model",
            "as claimed for 1 of 3 models; counterexample m1: ",
            id="of those against it, the one that is furthest",
        ),
        pytest.param(
            [0.0, 0.1],
            "every model",
            "as claimed for 1 of 2 models; counterexample m0: ",
            id="no difference speaks against it",
        ),
        pytest.param(
            [0.3, 0.1],
            "every model",
            "as claimed for 2 of 2 models; least certain model m1: ",
            id="of those as claimed, the one that is nearest to none",
        ),
    ],
)
def test_how_many_models_it_is_of_and_which_tells(values, of, said):
    assert together(values, of).why == said


def test_models_that_are_alike_spread_as_one_question_and_two_more_would():
    # On 8 questions a spread of 1 / 10; of three models an error of 0.1 / sqrt(3), as above.
    row = together([0.2] * 3, "models on average", n=8)
    assert row.low == pytest.approx(0.2 - 4.3027 * 0.1 / sqrt(3), abs=1e-4)


def test_models_that_are_alike_on_nobody_knows_how_many_questions_tell_nothing():
    row = together([0.1, 0.1], "models on average", n=0)
    assert (row.value, row.p) == (pytest.approx(0.1), None)


def test_of_two_models_against_it_a_chance_of_two_in_three_is_certain_to_be_met():
    assert together([-0.1, -0.1], "every model", p=2 / 3).p == 1.0


def test_where_no_model_was_tried_the_claim_says_why():
    found = evaluate_claims(
        "quiz", [claim(1.0)], "measured", {"c": ["m"]}, lambda *_: "no such table"
    )
    assert [(row.model, row.why, row.n, row.p) for row in found] == [
        ("", "no such table", 0, None),
        ("m", "no such table", 0, None),
    ]


def test_a_claim_about_models_that_the_paper_names_is_tried_on_no_other():
    named = replace(claim(1.0), terms=(Term(weight=1.0, cell=replace(CELL, model="GPT-4V")),))
    found = evaluate_claims(
        "quiz", [named], "published", {"c": ["m"]}, lambda _, model: f"of {model!r}"
    )
    assert [(row.model, row.why) for row in found] == [("", "of ''")]


def test_a_margin_is_said():
    found = claim_difference(claim(1.0, margin=0.1), [ClaimNumber("a 0.5", 0.5, 0.4, 0.6, 20)])
    assert found.why == "a 0.5; more than 0.1 is claimed"
