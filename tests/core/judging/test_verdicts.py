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

REPLIES_OF_GRADE_4 = read_rows(__file__, "grades_of_four.jsonl")
REPLIES_WITHOUT_GRADE = read_rows(__file__, "no_grades.jsonl")
OTHER_SCALES = [
    ("Rating (0-10): 8", 0, 10, 8),
    ("Score (out of 10): 8", 0, 10, 8),
    ("Score: 7-8", 0, 10, None),
    ("85/100", 0, 100, 85),
    ("80%", 0, 100, 80),
    ("0.8", 0, 1, 0.8),
    (".8", 0, 1, 0.8),
    ("-1", -1, 1, -1),
    ("10", 0, 10, 10),
    ("10", 0, 1, None),
]
RIGHT = [
    *("right", "Right.", "**right**", "Verdict: right", "Answer: right", r"\boxed{right}"),
    *('{"verdict": "right"}', "right\n\nIt fits."),
]
WRONG = [
    *("wrong", "The answer is wrong.", "It says B.\n\nwrong", "judgement: Wrong"),
    '{"reason": "B is right", "verdict": "wrong"}',
]
NO_WORD = [
    *("", "Right, because it fits.", "Right.\nWrong.", "right or wrong", "not right", "right?"),
    *("neither right nor wrong", "It is right-handed.", "I have no idea.", "correct"),
    *("The answer is not right.", "Verdict: right, but wrong too"),
]
WORDS: list[tuple[str, bool | None]] = [
    *((text, True) for text in RIGHT),
    *((text, False) for text in WRONG),
    *((text, None) for text in NO_WORD),
]


@pytest.mark.parametrize("reply", REPLIES_OF_GRADE_4)
def test_a_grade_of_four_of_five_is_read(reply):
    assert read_grade(reply, 1, 5) == 4


@pytest.mark.parametrize("reply", REPLIES_WITHOUT_GRADE)
def test_a_reply_without_one_grade_of_the_scale_is_unread(reply):
    assert read_grade(reply, 1, 5) is None


@pytest.mark.parametrize(("reply", "low", "high", "grade"), OTHER_SCALES)
def test_a_grade_lies_on_its_scale(reply, low, high, grade):
    assert read_grade(reply, low, high) == grade


@pytest.mark.parametrize(("reply", "verdict"), WORDS)
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
