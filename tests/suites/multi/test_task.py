"""Signs and letters: full-width ones, units and fractions of one character, letters in any form.

The careful scorer takes several codes of one sign for the same; the authors' scripts compare
bytes. ``response_forms.json`` was written by hand, and committed, before any reader.
"""

import json
from pathlib import Path

import pytest

from bench_assets.suites.multi.task import TASK
from tests.cases import read_rows
from tests.fakes.multi_rows import answered
from tests.suites.multi.test_readers import SCORERS

FULL_WIDTH = read_rows(__file__, "full_width_points.jsonl")


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
    wrong: list[tuple[str, ...]] = []
    unread: list[tuple[str, ...]] = []
    n = 0
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
