import pytest

from bench_assets.core.judging.verdicts import (
    RIGHT_OR_WRONG,
    YES_OR_NO,
    read_grade,
    read_verdict,
    read_word,
)
from bench_assets.core.schema.chat import Response
from tests.cases import read_rows


@pytest.mark.parametrize("reply", read_rows(__file__, "grades_of_four.jsonl"))
def test_a_grade_of_four_of_five_is_read(reply):
    assert read_grade(reply, 1, 5) == 4


@pytest.mark.parametrize("reply", read_rows(__file__, "no_grades.jsonl"))
def test_a_reply_without_one_grade_of_the_scale_is_unread(reply):
    assert read_grade(reply, 1, 5) is None


@pytest.mark.parametrize(
    ("reply", "low", "high", "grade"), read_rows(__file__, "other_scales.jsonl")
)
def test_a_grade_lies_on_its_scale(reply, low, high, grade):
    assert read_grade(reply, low, high) == grade


@pytest.mark.parametrize(("reply", "verdict"), read_rows(__file__, "words.jsonl"))
def test_a_verdict_is_one_unambiguous_word(reply, verdict):
    assert read_word(reply, RIGHT_OR_WRONG) is verdict


@pytest.mark.parametrize(("reply", "verdict"), [("Yes.", True), ("no", False), ("maybe", None)])
def test_yes_and_no_are_verdicts_too(reply, verdict):
    assert read_word(reply, YES_OR_NO) is verdict


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        pytest.param(Response(text="Verdict: wrong"), False, id="a word"),
        pytest.param(Response(text="right</s>"), True, id="an end of text"),
        pytest.param(Response(text="<think>wrong?</think>right"), True, id="after reasoning"),
        pytest.param(Response(text="right", finish_reason="stop"), True, id="complete"),
        pytest.param(Response(text="right", finish_reason="length"), None, id="truncated"),
        pytest.param(Response(text="right or wrong"), None, id="both"),
        pytest.param(Response(error="503"), None, id="an error"),
    ],
)
def test_a_word_of_a_complete_response_is_a_verdict(response, verdict):
    assert read_verdict(response, RIGHT_OR_WRONG) is verdict
