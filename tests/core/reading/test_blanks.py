"""Entries of blanks: as many as there are blanks, or none."""

import pytest

from bench_assets.core.reading.blanks import read_blanks

FILLED = [
    (1, "0.5", ("0.5",)),
    (1, "答案：文艺复兴。", ("文艺复兴",)),
    (1, "答案是文艺复兴", ("文艺复兴",)),
    (1, r"因为 $1/2$，所以 $\boxed{0.5}$", ("0.5",)),
    (1, "答案：x=1\n\n解析：移项。", ("x=1",)),
    (2, "0.5\n1", ("0.5", "1")),
    (2, "氢\n\n氧", ("氢", "氧")),
    (2, "0.5；1", ("0.5", "1")),
    (2, "氢、氧", ("氢", "氧")),
    (2, "光合作用，呼吸作用", ("光合作用", "呼吸作用")),
    (2, "54 2.7", ("54", "2.7")),
    (2, "1. 氢\n2. 氧", ("氢", "氧")),
    (2, "1.5\n2.5", ("1.5", "2.5")),
    (2, "①氢；②氧", ("氢", "氧")),
    (2, "（1）氢（2）氧", ("氢", "氧")),
    (2, "- 氢\n- 氧", ("氢", "氧")),
    (2, "②\n①", ("②", "①")),
    (2, "第一空：肝脏\n第二空：胆汁", ("肝脏", "胆汁")),
    (2, r"\boxed{氢}，\boxed{\text{氧}}", ("氢", "氧")),
    (2, "由题意得。\n\n**答案：**\n15\n3.6", ("15", "3.6")),
    (3, "所以答案是：5，3/5，4/3", ("5", "3/5", "4/3")),
]
NOT_FILLED = [
    (1, ""),
    (2, "氢"),
    (2, "氢、氧、氮"),
    (2, "长江发源于青藏高原的巴颜喀拉山，注入东海。"),
    (2, "很抱歉，我无法从提供的图片中清楚地识别出该物质的结构，因此无法给出答案。"),
]


@pytest.mark.parametrize(("n", "response", "entries"), FILLED)
def test_blanks_are_filled(n, response, entries):
    found = read_blanks(response, n)
    assert found is not None
    assert found.value == entries
    assert 0 <= found.evidence[0] < found.evidence[1] <= len(response)


@pytest.mark.parametrize(("n", "response"), NOT_FILLED)
def test_another_number_of_entries_fills_nothing(n, response):
    assert read_blanks(response, n) is None
