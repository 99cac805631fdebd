"""Numbers are read where a person would read them."""

import pytest

from bench_assets.journeybench.numbers import as_number, final_number, numbers, same_number


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        pytest.param("Answer: 12", 12, id="after the label that was asked for"),
        pytest.param("**Answer:** $1,250.50.", 1250.5, id="money with a comma and cents"),
        pytest.param("Answer: 7\n\nI counted 3 cups twice.", 7, id="the label before the last one"),
        pytest.param("The answer is 5. No: the answer is 6.", 6, id="the last of two answers"),
        pytest.param("Answer: 3 + 4 = 7 cups of 9", 7, id="the result of a calculation"),
        pytest.param("3 + 4 = 7", 7, id="no label: the last number"),
        pytest.param("\\boxed{42}", 42, id="boxed"),
        pytest.param("#### 18", 18, id="as GSM8K writes it"),
        pytest.param("There are four cups.", 4, id="written out"),
        pytest.param("2 boxes, so 10 in all, one of them red", 10, id="digits before words"),
        pytest.param("It is -3 degrees", -3, id="below zero"),
        pytest.param("The answer cannot be found.", None, id="no number at all"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_the_final_number_of_a_reply(reply, number):
    assert final_number(reply) == number


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("Two dogs and 3 cats", [2, 3], id="words and digits"),
        pytest.param("someone weighs tenfold", [], id="number words inside other words"),
        pytest.param("from 9:30 to 10", [9, 30, 10], id="times of day"),
        pytest.param("1,000,000", [1_000_000], id="commas between thousands"),
    ],
)
def test_all_numbers_of_a_text(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param(5.0, 5.1, True, id="a tenth apart, which binary fractions overshoot"),
        pytest.param(5.0, 4.9, True, id="a tenth below"),
        pytest.param(5.0, 5.11, False, id="a little more than a tenth"),
    ],
)
def test_numbers_a_tenth_apart_are_the_same(one, other, same):
    assert same_number(one, other) is same


def test_a_text_with_more_than_a_number_is_no_number():
    assert [as_number(text) for text in ("25%", "$3", "3 cups", "")] == [25, 3, None, None]
