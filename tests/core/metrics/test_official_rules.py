"""The authors' rules: the cases of public reports, and what their scripts do by their text."""

import pytest

from bench_assets.core.metrics.official_rules import (
    chartqa,
    docvqa,
    is_right_open,
    mathvista,
    mmmu,
    mmstar,
    read_open,
    vqa,
)
from tests.fakes.rows import question

OPTIONS = {"kind": "choice", "options": ("red car", "blue"), "answer": ("A",)}


@pytest.mark.parametrize(
    ("rule", "response", "fields", "points"),
    [
        pytest.param(chartqa, "The answer is 23.", {"answer": ("23",)}, 0, id="a sentence"),
        pytest.param(chartqa, "25%", {"answer": ("0.25",)}, 1, id="a percentage is a share"),
        pytest.param(chartqa, "25%", {"answer": ("25",)}, 0, id="and not the number"),
        pytest.param(chartqa, "1234", {"answer": ("1,234",)}, 0, id="a comma"),
        pytest.param(chartqa, "Yes.", {"answer": ("Yes",)}, 0, id="a full stop"),
        pytest.param(chartqa, "1.2e3", {"answer": ("1200",)}, 1, id="a power of ten"),
        pytest.param(chartqa, "0.1", {"answer": ("0",)}, 0, id="nothing is near zero"),
        pytest.param(docvqa, "Hello  World", {"answer": ("hello world",)}, 1, id="blanks"),
        pytest.param(docvqa, "hallo", {"answer": ("hello", "x")}, 0.8, id="one of five letters"),
        pytest.param(docvqa, "abc", {"answer": ("xyz",)}, 0, id="below a half"),
        pytest.param(vqa, "A dog.", {"answer": ("dog",) * 2 + ("cat",) * 8}, 0.6, id="articles"),
        pytest.param(vqa, "two", {"answer": ("2",) * 9 + ("3",)}, 1, id="number words"),
        pytest.param(vqa, "Dog", {"answer": ("dog",) * 10}, 0, id="as they are if all are equal"),
        pytest.param(vqa, "dont", {"answer": ("don't",) * 9 + ("x",)}, 1, id="contractions"),
        pytest.param(mmmu, "The answer is (A).", OPTIONS, 1, id="a letter in brackets"),
        pytest.param(mmmu, "A or B ?", OPTIONS, 0, id="the last letter"),
        pytest.param(mmmu, "It must surely be the RED CAR there", OPTIONS, 1, id="a text"),
        pytest.param(mmmu, "the red car", OPTIONS, None, id="a short text is drawn at random"),
        pytest.param(mathvista, "(a)", OPTIONS, 1, id="a bracketed letter"),
        pytest.param(mathvista, "red cat", OPTIONS, 1, id="the nearest option"),
        pytest.param(mathvista, "12.7", {"answer": ("12 cm",)}, 1, id="whole numbers are cut"),
        pytest.param(mathvista, "1.249", {"answer": ("1.2",)}, 1, id="rounded"),
        pytest.param(mathvista, "none", {"answer": ("1.2",)}, 0, id="no number"),
        pytest.param(mathvista, "[1, 2]", {"answer": ("[1.0, 2.0]",)}, 1, id="a list"),
        pytest.param(mmstar, "A: red car", OPTIONS, 1, id="the beginning"),
        pytest.param(mmstar, "The answer is a", OPTIONS, 1, id="an opening"),
        pytest.param(mmstar, "It is A", OPTIONS, 0, id="elsewhere"),
    ],
)  # fmt: skip
def test_points(rule, response, fields, points):
    assert rule(response, question(**fields)) == pytest.approx(points)


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
