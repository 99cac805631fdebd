"""The authors' rules: the cases of public reports, and what their scripts do by their text."""

import pytest

from bench_assets.core.metrics import official_rules
from bench_assets.core.metrics.official_rules import is_right_open, read_open
from tests.cases import read_cases
from tests.fakes.rows import question


@pytest.mark.parametrize(
    ("rule", "response", "fields", "points"),
    read_cases(__file__, "official_points.jsonl", tuples=True),
)
def test_points(rule, response, fields, points):
    found = getattr(official_rules, rule)(response, question(**fields))
    assert found == pytest.approx(points)


@pytest.mark.parametrize(
    ("response", "answers", "right"),
    [
        pytest.param("So the result is 1,234.", ["1234"], True, id="a number with a comma"),
        pytest.param("x = 1.06", ["1.06"], True, id="an equation in the last line"),
        pytest.param("The capital is Paris", ["paris"], True, id="a phrase"),
        pytest.param("Cat", ["c"], False, id="a letter is no trivial match"),
    ],
)
def test_open_answers_of_mmmu(response, answers, right):
    assert is_right_open(answers, read_open(response)) == right
