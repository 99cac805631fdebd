import pytest

from bench_assets.core.metrics.official_rules import OFFICIAL_RULES, is_right_open, read_open
from tests.cases import read_cases
from tests.fakes.rows import question


@pytest.mark.parametrize(
    ("rule", "response", "fields", "points"),
    read_cases(__file__, "official_points.jsonl", tuples=True),
)
def test_a_response_has_the_points_of_the_authors_rule(rule, response, fields, points):
    assert OFFICIAL_RULES[rule](response, question(**fields)) == pytest.approx(points)


@pytest.mark.parametrize(
    ("response", "answers", "is_right"),
    [
        pytest.param("So the result is 1,234.", ["1234"], True, id="a number with a comma"),
        pytest.param("x = 7\ny = 8", ["7"], False, id="an equation above the last line"),
        pytest.param("The capital is Paris", ["paris"], True, id="a phrase"),
        pytest.param("Cat", ["c"], False, id="a letter is no trivial match"),
    ],
)
def test_open_answers_are_right_by_the_rule_of_mmmu(response, answers, is_right):
    assert is_right_open(answers, read_open(response)) == is_right
