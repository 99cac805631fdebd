"""Sums of cells with their intervals, and what many models say together."""

from math import nan, sqrt

import pytest
from scipy.stats import t as student

from bench_assets.core.claims import Cell, Claim, Term
from bench_assets.core.students_t import student_p
from bench_assets.core.trying import Difference, Number, summed, tried

CELL = Cell(task="quiz", metric="accuracy")


def claim(*weights, of="every model", margin=0.0):
    terms = tuple(Term(weight=one, cell=CELL) for one in weights)
    return Claim(name="c", section="1", sentence="So it is.", terms=terms, of=of, margin=margin)


def together(values, of, n=100, half=0.01, p=0.001):
    """The row of all models, of which each differs by one of the values."""
    each = {f"m{i}": value for i, value in enumerate(values)}
    one = claim(1.0, -1.0, of=of)
    found = tried(
        *("quiz", [one], "measured", {"c": list(each)}),
        lambda _, m: Difference(each[m], each[m] - half, each[m] + half, p, n, ""),
    )
    return found[0]


def test_distances_of_the_ends_add_up_as_squares():
    numbers = [Number("a", 0.8, 0.77, 0.84, 40), Number("b", 0.5, 0.48, 0.54, 30)]
    found = summed(claim(1.0, -1.0, margin=0.1), numbers)
    assert found.value == pytest.approx(0.2)
    assert found.low == pytest.approx(0.2 - sqrt(0.03**2 + 0.04**2))
    assert found.high == pytest.approx(0.2 + sqrt(0.04**2 + 0.02**2))
    assert found.n == 30


def test_a_p_value_is_one_in_twenty_where_an_end_is_0():
    found = summed(claim(1.0), [Number("a", 0.1, 0.0, 0.3, 9)])
    assert found.p == pytest.approx(0.05)


def test_what_is_computed_has_no_part_in_the_interval():
    numbers = [Number("a", 0.5, 0.4, 0.6, 20), Number("chance", 0.25, 0.25, 0.25, 0)]
    found = summed(claim(1.0, -1.0), numbers)
    assert (found.low, found.high) == pytest.approx((0.15, 0.35))
    assert found.n == 20


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
    assert row.low == pytest.approx(0.2 - 4.3027 * 0.1 / sqrt(3), abs=1e-4)
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
