import sys

import pytest

from bench_assets.core.answer_types.definition import AnswerSettings, RowContext
from bench_assets.core.answer_types.registry import make_answer_type
from bench_assets.core.schema.errors import MissingExtraError, SourceError
from tests.cases import read_cases


def test_without_math_verify_the_error_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "math_verify", None)
    with pytest.raises(MissingExtraError, match=r"bench-assets\[formula\]"):
        make_answer_type("formula", AnswerSettings())


@pytest.mark.parametrize(
    ("key", "response", "points"),
    read_cases(__file__, "formulas.jsonl"),
)
def test_a_formula_is_right_if_it_equals_the_key(key, response, points):
    answer_type = make_answer_type("formula", AnswerSettings())
    gold = answer_type.gold(key, RowContext())
    assert answer_type.grade(response, gold).points == points


def test_a_key_that_is_no_formula_is_refused():
    with pytest.raises(SourceError, match="expected a formula"):
        make_answer_type("formula", AnswerSettings()).gold("", RowContext())
