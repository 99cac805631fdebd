"""Letters in many forms of response, and a full-width sign in an open answer.

``response_forms.json`` was written by hand, and committed, before any reader.
"""

import json
from pathlib import Path

import pytest

from bench_assets.suites.multi.task import TASK
from tests.fakes.multi_rows import answered


@pytest.mark.parametrize(("scorer", "points"), [("careful", 1.0), ("paper", 0.5), ("current", 0.5)])
def test_only_the_careful_scorer_matches_a_full_width_sign_of_the_reference(scorer, points):
    pair = answered("加热!", "OP", "加热！")  # two words, of which the sign is one
    assert TASK.scorer(scorer)(pair, []).points == pytest.approx(points, abs=1e-6)


RESPONSE_FORMS = json.loads(Path(__file__).with_name("response_forms.json").read_text("utf-8"))
QUESTION_FOR_WRONG = "下列说法错误的是[MASK]\nA. 甲\nB. 乙\nC. 丙\nD. 丁"


def read_letters(kind, response, **fields):
    """The letters that the careful scorer reads, in order."""
    gold = {"SA": "B", "MA": "AB"}[kind]
    score = TASK.scorer("careful")(answered(response, kind, gold, **fields), [])
    return "".join(sorted(score.answer))


def test_a_right_letter_that_the_text_does_not_list_is_read():
    pair = answered("C", gold="C", text="选[MASK]\nA. 甲\nB. 乙", options=("A", "B", "C"))
    assert TASK.scorer("careful")(pair, []).points == 1.0


def test_at_most_1_percent_of_the_forms_are_misread_and_at_most_40_percent_unread():
    misread, unread = [], []
    for form, rows in RESPONSE_FORMS.items():
        fields = {"text": QUESTION_FOR_WRONG} if form == "asked for what is wrong" else {}
        for kind, expected, response in rows:
            letters = read_letters(kind, response, **fields)
            if letters not in ("", expected):
                misread.append((form, response, letters))
            elif letters != expected:
                unread.append((form, response))
    n = sum(map(len, RESPONSE_FORMS.values()))
    assert n >= 200
    assert len(misread) <= n / 100, misread
    assert len(unread) <= 0.4 * n, unread
