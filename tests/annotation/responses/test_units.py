"""Which responses people are shown: of no model by name, and equal ones once."""

from bench_assets.annotation.responses.units import (
    group_by_response,
    question_fields,
    response_name,
)
from tests.fakes.rows import prediction, question


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
    query = question(options=("left", "right"), answer=("B",), context="In Japan.")
    assert question_fields(query) == {
        "Context": "In Japan.",
        "Question": "?",
        "Options": "A. left\nB. right",
        "Right": "B",
    }
