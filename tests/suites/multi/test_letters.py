"""What the careful scorer makes of letters; the forms and their letters were written by hand.

``response_forms.json`` was written, and committed, before the reader; ``more_response_forms.json``
holds one form at least for each word that the reader knows.
"""

import json
import time
from pathlib import Path

import pytest
from bench_assets.suites.multi.parsing.blanks import read_blanks
from bench_assets.suites.multi.parsing.responses import requested_kind

from bench_assets.core.reading.wrapped_answers import json_answer, last_boxed_answer
from bench_assets.suites.multi.task import TASK
from tests.suites.multi.rows import answered

FROZEN = json.loads(Path(__file__).with_name("response_forms.json").read_text("utf-8"))
MORE = json.loads(Path(__file__).with_name("more_response_forms.json").read_text("utf-8"))
STEMS = [
    ("下列正确的是[MASK]", "right"),
    ("若不计摩擦。正确的是[MASK]", "right"),
    *((f"说法{word}是[MASK]", "wrong") for word in ("错误的", "不正确的", "不对的", "有误的")),
    *((f"做法{word}的是[MASK]", "wrong") for word in ("不恰当", "不合理", "不成立")),
    *((f"Which is {word}? [MASK]", "wrong") for word in ("incorrect", "wrong", "false")),
    *((f"Which is not {word}? [MASK]", "wrong") for word in ("correct", "true")),
    *((f"它{word}属于哪一类[MASK]", "else") for word in ("不", "没", "无", "非", "除")),
    *((f"All are fruits {word} [MASK]", "else") for word in ("EXCEPT", "not")),
]
FOR_WRONG = "下列说法错误的是[MASK]\nA. 甲\nB. 乙\nC. 丙\nD. 丁"


def as_read(kind, response, **fields):
    gold = {"SA": "B", "MA": "AB"}[kind]
    return "".join(
        sorted(TASK.scorer("careful")(answered(response, kind, gold, **fields), []).answer)
    )


def test_fewer_than_one_in_a_hundred_frozen_forms_is_misread_and_few_are_not_read():
    wrong, unread, n = [], [], 0
    for name, rows in FROZEN.items():
        about = {"text": FOR_WRONG} if name == "asked for what is wrong" else {}
        for kind, expected, response in rows:
            read = as_read(kind, response, **about)
            n += 1
            if read != expected:
                (wrong if read else unread).append((name, response, read))
    assert n >= 200
    assert len(wrong) < n / 100, wrong
    assert len(unread) < n / 50, unread


@pytest.mark.parametrize("row", [pytest.param(row, id=row[2][:40]) for row in MORE])
def test_letters_of_a_response(row):
    kind, expected, response = row
    assert as_read(kind, response) == expected


@pytest.mark.parametrize(("stem", "wanted"), STEMS)
def test_what_a_question_asks_for(stem, wanted):
    assert requested_kind(stem) == wanted


@pytest.mark.parametrize(
    ("response", "points"),
    [
        pytest.param("A正确，B、C、D错误", 0, id="truth alone says nothing"),
        pytest.param("A符合题意，B、C、D不符合题意", 1, id="fitness does"),
        pytest.param("选A", 1, id="a statement does"),
    ],
)
def test_a_question_that_asks_for_neither_truth_nor_error_is_not_answered_by_truth(
    response, points
):
    about = {"text": "不属于哺乳动物的是[MASK]\nA. 鱼\nB. 猫\nC. 狗\nD. 牛"}
    assert TASK.scorer("careful")(answered(response, gold="A", **about), []).points == points


def test_a_letter_that_was_not_offered_is_no_answer():
    about = {"text": "对吗？[MASK]\nA. 对\nB. 错"}
    assert as_read("SA", "选C", **about) == ""
    assert as_read("SA", "选B", **about) == "B"


def test_boxes_and_json():
    assert last_boxed_answer(r"\boxed{A}\boxed{B}") == "A,B"
    assert last_boxed_answer(r"\boxed{\frac{1}{2}}") == r"\frac{1}{2}"
    assert json_answer("集合{1,2}") is None
    assert json_answer('{"a": 1}') == ""


@pytest.mark.parametrize(
    ("wanted_text", "letter"),
    [
        pytest.param("下列说法正确的是[MASK]\nA. 甲\nB. 乙", "", id="what is right"),
        pytest.param("下列说法错误的是[MASK]\nA. 甲\nB. 乙", "B", id="what is wrong"),
    ],
)
def test_a_choice_that_is_called_wrong_is_taken_back_unless_that_is_asked_for(wanted_text, letter):
    assert as_read("SA", "选B，这是错误的", text=wanted_text) == letter


@pytest.mark.parametrize("line", ["\n", "\r\n", " \n", "\n\u3000"])
def test_a_response_that_ends_in_empty_lines_takes_little_time(line):
    started = time.process_time()  # s of CPU: how busy the machine is does not matter
    as_read("SA", "答案" + line * 30_000 + "x")
    assert read_blanks("水" + line * 30_000 + "理由:它流动", 1) == ("水",)
    assert read_blanks("水" + line * 30_000 + "它流动", 1) != ("水",)
    assert time.process_time() - started < 3  # what is quadratic takes more than ten
