import sys

import pytest

from bench_assets.core.answer_types.definition import AnswerSettings, RowContext
from bench_assets.core.answer_types.registry import make_answer_type
from bench_assets.core.schema.errors import MissingExtraError, SourceError


def test_without_math_verify_the_error_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "math_verify", None)
    with pytest.raises(MissingExtraError, match=r"bench-assets\[formula\]"):
        make_answer_type("formula", AnswerSettings())


@pytest.mark.parametrize(
    ("key", "response", "points"),
    [
        pytest.param(r"\frac{1}{2}", "1/2", 1.0, id="a fraction"),
        pytest.param(r"\frac{1}{2}", "It is 0.5.", 1.0, id="a decimal in a sentence"),
        pytest.param(r"\$2.50", r"\boxed{2.5}", 1.0, id="an amount of dollars"),
        pytest.param("72", r"$72^\circ$", 1.0, id="degrees"),
        pytest.param(r"5\sqrt{3}", r"5\sqrt3", 1.0, id="a root without signs around it"),
        pytest.param("$x^2+1$", r"So \boxed{1+x^2}", 1.0, id="a sum in another order"),
        pytest.param("x^2+1", "$x^2-1$", 0.0, id="another sum"),
        pytest.param("(1,2)", "(1, 2)", 1.0, id="a point"),
        pytest.param(r"2\pi", "6.28", 0.0, id="a rounded number"),
        pytest.param(r"\frac{1}{2}", "I do not know", None, id="no formula"),
    ],
)
def test_a_formula_is_right_if_it_equals_the_key(key, response, points):
    answer_type = make_answer_type("formula", AnswerSettings())
    gold = answer_type.gold(key, RowContext())
    assert answer_type.grade(response, gold).points == points


def test_a_key_that_is_no_formula_is_refused():
    with pytest.raises(SourceError, match="expected a formula"):
        make_answer_type("formula", AnswerSettings()).gold("", RowContext())
