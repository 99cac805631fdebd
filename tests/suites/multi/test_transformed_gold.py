"""The gold of transformed problems, each answered by hand before any rule was asked.

``transformed_problems.json``: rule, type, text, options, answer, and the right texts of each
problem that is to come of it.
"""

import json
from pathlib import Path
from string import ascii_uppercase

import pytest

from bench_assets.suites.multi.construction.question_transforms import (
    choose_elements,
    negate,
    split_blanks,
    to_blank,
    with_options,
)
from bench_assets.suites.multi.construction.rewriting import RULES, apply, transformations
from bench_assets.suites.multi.dataset.questions import blanks_in, split_options
from tests.suites.multi.rows import item

ROWS = json.loads(Path(__file__).with_name("transformed_problems.json").read_text("utf-8"))


def problem(row):
    text = with_options(row["text"], row["options"]) if row["options"] else row["text"]
    return item(type=row["type"], specific=text, answer=row["answer"])


def right(one):
    _, options = split_options(one.specific)
    chosen = [options[ascii_uppercase.index(letter)] for letter in one.answer] if options else []
    return chosen or list(blanks_in(one.answer))


def test_there_are_sixty():
    assert len(ROWS) >= 60


@pytest.mark.parametrize("row", [pytest.param(row, id=row["text"][:40]) for row in ROWS])
def test_the_gold_is_what_a_person_answers(row):
    made = RULES[row["rule"]].make(problem(row))
    assert [right(one) for one in made] == row["right"]


@pytest.mark.parametrize(
    ("make", "text", "options", "answer"),
    [
        pytest.param(choose_elements, "共[MASK]元", ["1,200", "2,400"], "A", id="thousands"),
        pytest.param(choose_elements, "共[MASK]元", ["1，200", "2，400"], "A", id="wide thousands"),
        pytest.param(
            choose_elements, "可以是[MASK]", ["3,4,5", "1,2,3", "2,3,4"], "A", id="triples"
        ),
        pytest.param(
            choose_elements, "可以是[MASK]", ["3、4、5", "1、2、3"], "A", id="triples, 、"
        ),
        pytest.param(
            choose_elements, "三边长可以是[MASK]", ["3和4和5", "1和2和3"], "A", id="sides"
        ),
        pytest.param(choose_elements, "两根是[MASK]", ["2和7", "3和7"], "A", id="values"),
        pytest.param(
            choose_elements, "正确的顺序是[MASK]", ["①③②", "②③①", "②③④"], "A", id="an order"
        ),
        pytest.param(choose_elements, "应当[MASK]", ["②①", "①③"], "A", id="written as orders"),
        pytest.param(choose_elements, "是同一物质的一组是[MASK]", ["①②", "②③"], "A", id="a pair"),
        pytest.param(negate, "原因是[MASK]", ["甲", "乙", "以上都是"], "C", id="all of these"),
        pytest.param(negate, "原因是[MASK]", ["甲", "乙", "以上都不是"], "A", id="none of these"),
        pytest.param(negate, "原因是[MASK]", ["甲", "乙", "A和B"], "C", id="both of them"),
        pytest.param(negate, "It是[MASK]", ["x", "y", "All of the above"], "C", id="in English"),
        pytest.param(negate, "原因是[MASK]", ["甲", "乙", "其他都对"], "C", id="the others"),
        pytest.param(negate, "原因是[MASK]", ["甲", "乙", "前两项"], "C", id="the first two"),
        pytest.param(negate, "原因是[MASK]", ["甲", "乙", "两者皆是"], "C", id="either"),
        pytest.param(negate, "上述原因是[MASK]", ["甲", "乙", "上述各项"], "C", id="the above"),
        *(
            pytest.param(negate, f"它{word}是[MASK]", ["甲", "乙", "丙"], "A", id=f"{word}是")
            for word in (
                *("可能", "一定", "必然", "必须", "应", "应该", "至少", "只", "仅", "通常", "往往"),
                *("于", "还", "但", "凡", "都", "也", "就", "像", "要"),
            )
        ),
        pytest.param(split_blanks, "甲和乙的质量是[MASK]和[MASK]", [], "1\n2", id="two things"),
        pytest.param(split_blanks, "长、宽为[MASK]、[MASK]", [], "8\n5", id="two sides"),
        *(
            pytest.param(split_blanks, text, [], "1\n2", id=text)
            for text in (
                "两数之比是[MASK]与[MASK]",
                "[MASK]与[MASK]的差是1",
                "先后经过[MASK]和[MASK]",
                "按顺序填[MASK]、[MASK]",
                "由大到小是[MASK]、[MASK]",
                "从左起是[MASK]、[MASK]",
                "点P的坐标是[MASK]、[MASK]",
                "点P在（[MASK]、[MASK]）",
                "较长的是[MASK]和[MASK]",
                "得到[MASK]和[MASK]，前者大",
                "[MASK]与[MASK]，大于零",
            )
        ),
        pytest.param(to_blank, "它可以是[MASK]", ["铜", "木"], "A", id="not the only one"),
        pytest.param(to_blank, "它约为[MASK]", ["3", "以上都是"], "B", id="all of these, a blank"),
    ],
)
def test_what_could_spoil_the_gold_is_refused(make, text, options, answer):
    kind = "SA" if options else "FB"
    before = item(
        type=kind, specific=with_options(text, options) if options else text, answer=answer
    )
    assert make(before) == []


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param(
            {"type": "FB", "specific": "长和宽是[MASK]和[MASK]", "answer": "8\n5"},
            "for review: the order of the blanks may count: 长和宽",
            id="blanks",
        ),
        pytest.param(
            {"specific": with_options("顺序是[MASK]", ["①②③", "①③②"]), "answer": "A"},
            "for review: the options may hold only as a whole: 顺序",
            id="combined options",
        ),
        pytest.param(
            {"specific": with_options("两根是[MASK]", ["2和7", "3和7"]), "answer": "A"},
            "for review: the numbers in the options may be values",
            id="numbers",
        ),
        pytest.param(
            {"specific": with_options("应当[MASK]", ["②①", "①③"]), "answer": "A"},
            "for review: the options may be orders",
            id="orders",
        ),
    ],
)
def test_what_may_depend_on_order_is_left_to_a_person(fields, reason):
    before = item(**fields)
    rows = transformations([before], {}, 0.0, 0)
    assert [row.fault for row in rows] == [reason]
    assert apply([before], rows) == [before]
