"""Verdicts by number, in the forms that judges write them in; more in CogBench's tests."""

import pytest

from bench_assets.core import numbered_verdicts
from bench_assets.core.numbered_verdicts import read_by_number
from tests.pinned_words import inline_words, survivors

YES, NO = [True], [False]

# The reply, the number of points, and what it says of each.
READ = [
    *((f"{name} 1: yes", 1, YES) for name in ("Key point", "Keypoint", "Key points", "Point")),
    *((f"{name} 1: yes", 1, YES) for name in ("Event relationship", "EventRelationships", "#")),
    *((f"1{mark} [1]", 1, YES) for mark in (".", ")", ":", " =", " ->", " →", " -", "")),
    *((f"{mark}1. [1]", 1, YES) for mark in ("- ", "• ", "(", " ")),
    *((f"1. {word}", 1, YES) for word in ("1", "yes", "Yes")),
    *((f"1. {word}", 1, NO) for word in ("0", "no", "NO")),
    *((f"1. [{word}]", 1, YES) for word in ("true", "True", "yes", "1")),
    *((f"1. [{word}]", 1, NO) for word in ("false", "no", "0")),
    *((word, 1, YES) for word in ("1", "Yes", "**yes**")),
    *((word, 1, NO) for word in ("0", "No.", "no")),
    *((f"1. {no} [1]", 1, [None]) for no in ("not", "never", "It is not")),
    ("1. The boy was not alone [1]", 1, YES),
    (f"1. It is not{' ' * 9}[1]", 1, [None]),
    (f"1. It is not{' ' * 10}[1]", 1, YES),  # of what stands further off
    *((f'[{{"{key}": 1, "score": 1}}]', 1, YES)
      for key in ("id", "number", "index", "key_point", "point", "n", "ID")),
    *((f'[{{"id": 1, "{key}": 0}}]', 1, NO)
      for key in ("score", "verdict", "answer", "value", "mentioned", "result", "Score")),
    ('[{"id": 1, "score": 1, "verdict": 0}]', 1, [None]),
    ('[{"id": 1, "n": 1, "score": 1}]', 1, [None]),
    ('[{"id": "1 of 2", "score": 1}]', 2, [None, None]),
    ('[{"id": 2, "score": 1}, {"id": 2, "score": 0}]', 2, [None, None]),
    ('[{"id": 2, "score": 1}, 1]', 2, [None, True]),
    ('{"1": {"score": 1}, "2": {"score": 0}}', 2, [True, False]),
    ('{"point 1": 1, "points": 2, "2": 0}', 2, [True, False]),
    ('{"1": [[1]], "02": "[0]"}', 2, [True, False]),
    ('{"verdicts": {"1": 1}}', 1, YES),
    ('{"1": [1]}', 1, YES),
    ('{"1": []}', 1, [None]),
    ('{"1": ["yes"]}', 1, YES),
    ('{"1": [1]}', 2, [True, None]),
    ('{"1": [1, 0]}', 2, [True, False]),
    ("[1]", 1, YES),
    ("[]", 1, [None]),
    ("[true, false]", 2, [True, False]),
    ("[1, 0, 1]", 2, [None, None]),
    ("01. [1] 02. [0]", 2, [True, False]),
    ("10. [1] 1. [0]", 1, NO),
    ("Answers: 1. [1], 2. [0]; 3. [1]", 3, [True, False, True]),
    ("Answers: 1 [1] 2 [0]", 2, [True, False]),
    ("1. A boy. [1].", 1, YES),
    ("1. A boy. [1] I think", 1, [None]),
    ("1. 1 2. 0 3. maybe 4. 1", 4, [True, False, None, None]),
    ("1. 1? 2. 1", 2, [None, None]),
    ("1. [1]? 2. [0]", 2, [None, None]),
    ("The 2 of them: [1] [0]", 2, [None, None]),
    ("They are [yes] and [no].", 2, [True, False]),
    ("They are [yes] and [no].", 3, [None] * 3),
    ("0. [1] 1. [0]", 1, NO),
    *((f"1 {arrow} 1 2 {arrow} 0", 2, [True, False]) for arrow in ("->", "→", "-", "=")),
    *((f"1. {word}", 1, [None]) for word in ("10", "1/2", "1 = 1", "1 ? 0", "nobody")),
]  # fmt: skip


def holds(row):
    reply, n, verdicts = row
    return read_by_number(reply, n) == verdicts


@pytest.mark.parametrize(("reply", "n", "verdicts"), READ)
def test_a_verdict_belongs_to_the_number_before_it(reply, n, verdicts):
    assert read_by_number(reply, n) == verdicts


def test_no_word_can_be_taken_out_of_the_reader():
    assert survivors([numbered_verdicts], READ, holds) == []
    assert inline_words([numbered_verdicts]) == []
