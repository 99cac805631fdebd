from bench_assets.annotation.responses.units import question_fields
from tests.fakes.rows import question


def test_a_question_is_shown_with_its_key():
    query = question(options=("left", "right"), answer=("B",), context="In Japan.")
    assert question_fields(query) == {
        "Context": "In Japan.",
        "Question": "?",
        "Options": "A. left\nB. right",
        "Right": "B",
    }
