"""What the careful scorer makes of letters; the forms and their letters were written by hand.

``response_forms.json`` was written, and committed, before any reader.
"""

import json
from pathlib import Path

from bench_assets.suites.multi.task import TASK
from tests.suites.multi.rows import answered

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
