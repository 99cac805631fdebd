"""Signs and letters: full-width ones, units and fractions of one character, letters in any form.

The careful scorer takes several codes of one sign for the same; the authors' scripts compare
bytes. ``response_forms.json`` was written by hand, and committed, before any reader.
"""

import json
from pathlib import Path

import pytest

from bench_assets.suites.multi.task import TASK
from tests.suites.multi.rows import answered
from tests.suites.multi.test_readers import SCORERS

FULL_WIDTH = [
    ("full-width digits in the gold", "１０", "10", 1, 0, 0, 0),
    ("full-width digits in both", "１０", "１０", 1, 1, 1, 1),
    ("full-width letters in the gold", "ＡＢ", "AB", 1, 0, 0, 0),
    ("another letter, full-width", "ＡＢ", "AC", 0, 0, 0, 0),
    ("a full-width colon in the gold", "1：2", "1:2", 1, 0, 0, 0),
    ("a full-width colon in both", "1：2", "1：2", 1, 1, 1, 1),
    ("a ratio's colon", "1:2", "1∶2", 1, 0, 0, 0),
    ("full-width brackets in the gold", "（1，2）", "(1,2)", 1, 0, 0, 0),
    ("a full-width minus in the gold", "－3", "-3", 1, 0, 0, 0),
    ("a full-width sign in the gold", "x＝3＋y", "x=3+y", 1, 0, 0, 0),
    ("full-width per cent in the gold", "３０％", "30%", 1, 0, 0, 0),
    ("full-width thousands in the gold", "１，２００", "1200", 1, 0, 0, 0),
    ("an ideographic blank in the gold", "氢\u3000氧", "氢氧", 1, 0, 0, 0),
    ("a full-width semicolon within a blank", "x；y", "x;y", 1, 0, 0, 0),
    ("an alternative in full width", "１０或２０", "20", 1, 0, 0, 0),
    ("degrees Celsius as one character", "10℃", "10°C", 1, 0, 0, 0),
    ("degrees Fahrenheit as one character", "50°F", "50℉", 1, 0, 0, 0),
    ("degrees Celsius of LaTeX", r"$10^\circ C$", "10℃", 1, 0, 0, 0),
    ("ohms as a sign of their own", "5\u03a9", "5\u2126", 1, 0, 0, 0),
    ("ohms as a Greek letter", "5\u03a9", "5\u03a9", 1, 1, 1, 1),
    ("micro as a sign of its own", "5\u03bcm", "5\u00b5m", 1, 0, 0, 0),
    ("a unit as one character", "3㎝", "3cm", 1, 0, 0, 0),
    ("the first unit of that kind", "3hPa", "3㍱", 1, 0, 0, 0),
    ("a square unit as one character", "5㎡", "5m²", 1, 0, 0, 0),
    ("a cubic unit as one character", "$5m^3$", "5㎥", 1, 0, 0, 0),
    ("another unit", "5㎡", "5㎥", 0, 0, 0, 0),
    ("a Roman numeral as one character", "Ⅲ", "III", 1, 0, 0, 0),
    ("a small Roman numeral", "iv", "ⅳ", 1, 0, 0, 0),
    ("a Roman numeral is no digit", "Ⅲ", "3", 0, 0, 0, 0),
    ("a fraction as one character", "1/2", "½", 1, 0, 0, 0),
    ("a third as one character", r"$\frac{1}{3}$", "⅓", 1, 0, 0, 0),
    ("a mixed number is not a fraction either", "21/2", "2½", 0, 0, 0, 0),
    ("other signs for at least", "x≥2", "x≧2", 1, 0, 0, 0),
    ("other signs for at most", "x≤2", "x≦2", 1, 0, 0, 0),
    ("curly quotes", "“是”", '"是"', 1, 0, 0, 0),
]


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("row", [pytest.param(row, id=row[0]) for row in FULL_WIDTH])
def test_points_of_a_blank(row, scorer):
    _, gold, response, *points = row
    score = TASK.scorer(scorer)(answered(response, "FB", gold), [])
    assert score.points == points[SCORERS.index(scorer)]


@pytest.mark.parametrize(("scorer", "points"), [("careful", 1.0), ("paper", 0.5), ("current", 0.5)])
def test_an_open_answer_in_full_width_signs_meets_its_reference_in_the_careful_scorer(
    scorer, points
):
    pair = answered("加热!", "OP", "加热！")  # two words, of which the sign is one
    assert TASK.scorer(scorer)(pair, []).points == pytest.approx(points, abs=1e-6)


FROZEN = json.loads(Path(__file__).with_name("response_forms.json").read_text("utf-8"))
FOR_WRONG = "下列说法错误的是[MASK]\nA. 甲\nB. 乙\nC. 丙\nD. 丁"


def as_read(kind, response, **fields):
    gold = {"SA": "B", "MA": "AB"}[kind]
    return "".join(
        sorted(TASK.scorer("careful")(answered(response, kind, gold, **fields), []).answer)
    )


def test_few_frozen_forms_are_misread_and_most_are_read():
    wrong, unread, n = [], [], 0
    for name, rows in FROZEN.items():
        about = {"text": FOR_WRONG} if name == "asked for what is wrong" else {}
        for kind, expected, response in rows:
            read = as_read(kind, response, **about)
            n += 1
            if read != expected:
                (wrong if read else unread).append((name, response, read))
    assert n >= 200
    assert len(wrong) <= n / 100, wrong
    assert len(unread) <= 0.4 * n, unread


def test_a_letter_that_was_not_offered_is_no_answer():
    about = {"text": "对吗？[MASK]\nA. 对\nB. 错"}
    assert as_read("SA", "选C", **about) == ""
    assert as_read("SA", "故选B", **about) == "B"
