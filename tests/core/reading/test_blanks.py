"""Entries of blanks: as many as there are blanks, or none."""

import pytest

from bench_assets.core.reading.blanks import read_blanks
from tests.cases import read_rows

FILLED = read_rows(__file__, "blanks.jsonl", tuples=True)
NOT_FILLED = [
    (1, ""),
    (2, "氢"),
    (2, "氢、氧、氮"),
    (2, "长江发源于青藏高原的巴颜喀拉山，注入东海。"),
    (2, "很抱歉，我无法从提供的图片中清楚地识别出该物质的结构，因此无法给出答案。"),
]


@pytest.mark.parametrize(("n", "response", "entries"), FILLED)
def test_blanks_are_filled(n, response, entries):
    reading = read_blanks(response, n)
    assert reading is not None
    assert tuple(reading.value.split("\n")) == entries
    assert 0 <= reading.evidence[0] < reading.evidence[1] <= len(response)


@pytest.mark.parametrize(("n", "response"), NOT_FILLED)
def test_another_number_of_entries_fills_nothing(n, response):
    assert read_blanks(response, n) is None
