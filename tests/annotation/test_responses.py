"""Which responses people are shown: of no model by name, equal ones once, and a fair sample."""

import pytest

from bench_assets.annotation.responses.units import (
    group_by_response,
    question_fields,
    response_name,
    stratified_sample,
)
from tests.rows import prediction, question


def test_who_says_the_same_is_judged_once_and_what_failed_by_nobody():
    rows = [
        prediction(model="a", text="blue"),
        prediction(model="b", text="blue"),
        prediction(model="c", text="red"),
        prediction(model="d", text="", error="no connection"),
        prediction(model="e", text="", no_answer="no answer in 512 tokens"),
        prediction(model="f", text="second draw", sample=1),
    ]
    found = group_by_response(rows)
    assert {key: [row.model for row in same] for key, same in found.items()} == {
        ("t/1", response_name("blue")): ["a", "b"],
        ("t/1", response_name("red")): ["c"],
    }


def test_a_question_is_shown_with_its_key():
    asked = question(options=("left", "right"), answer=("B",), context="In Japan.")
    assert question_fields(asked) == {
        "Context": "In Japan.",
        "Question": "?",
        "Options": "A. left\nB. right",
        "Right": "B",
    }


def names(letter, n):
    return [f"{letter}{number}" for number in range(n)]


@pytest.mark.parametrize(
    ("sizes", "n", "shares"),
    [
        pytest.param((80, 20), 10, (8, 2), id="as large shares as they have of all"),
        pytest.param((5, 5, 5), 10, (4, 3, 3), id="what is left over goes to the first"),
        pytest.param((99, 1), 10, (10, 0), id="a hundredth of ten is none"),
        pytest.param((3, 2), 10, (3, 2), id="all, where there are fewer"),
    ],
)
def test_a_sample_is_stratified(sizes, n, shares):
    strata = {letter: names(letter, size) for letter, size in zip("abc", sizes, strict=False)}
    found = stratified_sample(strata, n, seed=0)
    assert tuple(sum(one[0] == letter for one in found) for letter in strata) == shares


def test_another_seed_draws_others_and_more_names_move_few():
    few, more = {"": names("x", 100)}, {"": names("x", 110)}
    assert (
        stratified_sample(few, 20, 0)
        == stratified_sample(few, 20, 0)
        != stratified_sample(few, 20, 1)
    )
    assert len(set(stratified_sample(few, 20, 0)) & set(stratified_sample(more, 20, 0))) >= 14
