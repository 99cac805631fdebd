"""Verdicts by number, in the forms that judges write them in; more in CogBench's tests."""

import pytest

from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts

READ = [
    ("1. [1]  2. [0]", [True, False]),
    ("2. [0] 1.[1]", [True, False]),
    ("1) [1], 2) [0].", [True, False]),
    ("**1.** **[1]**\n**2.** **[0]**", [True, False]),
    ("- 1. [1]\n- 2. [0]", [True, False]),
    ("| 1 | [1] |\n| 2 | [0] |", [True, False]),
    ("1. A boy falls, 3. [YES]\n2. A girl. [no]", [True, False]),
    ("Here are the results:\n1. [1]\n2. [0]", [True, False]),
    ("Answers: 1. [1] 2. [0]", [True, False]),
    ("１．［１］　２．［０］", [True, False]),
    ("1. [ ] 2. [1]", [None, True]),
    ("1. [1]", [True, None]),
    ("1. [1] 2. [0", [True, None]),
    ("1. [1] 2. [0 or 1]", [True, None]),
    ("1. [1] 1. [0] 2. [1]", [None, True]),
    ("1. 1\n2. 0", [None, None]),
    ("[1] [0]", [None, None]),
    ('{"1": 1, "2": 0}', [None, None]),
    ("1. [2] 2. [maybe]", [None, None]),
    ("Answer with [0] or [1].", [None, None]),
    ("[0]/[1]", [None, None]),
    ("[1, 0, 1]", [None, None]),
    ("1. 1 2. maybe", [None, None]),
    ("1. 10 2. 1/2", [None, None]),
    ("1. No idea.\n2. I cannot tell.", [None, None]),
    ("", [None, None]),
]


@pytest.mark.parametrize(("response", "verdicts"), READ)
def test_a_verdict_belongs_to_the_number_before_it(response, verdicts):
    assert read_numbered_verdicts(response, 2) == verdicts
