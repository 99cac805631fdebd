from dataclasses import replace

import pytest

from bench_assets.suites.multi.construction.item_checks import defects, duplicates
from tests.cases import read_cases
from tests.suites.multi.rows import item

HASHES = {"a.png": "00" * 8, "a2.png": "00" * 7 + "03", "b.png": "ff" * 8}
LONG = "已知函数的定义域为实数集且满足下列条件求其最大值"


def problem(name, text, image=""):
    tokens, images = ("[IMAGE_1]", (image,)) if image else ("", ())
    return item(item_id=f"{name}_0", problem_id=name, specific=text + tokens, images=images)


def dropped(*items):
    found = duplicates(items, HASHES, similarity=0.8, distance=6)
    return [one.item_id for one in found if one.dropped]


@pytest.mark.parametrize(
    ("items", "gone"),
    [
        pytest.param([problem("a", LONG), problem("b", LONG)], ["b_0"], id="the same text"),
        pytest.param(
            [problem("a", LONG), problem("b", LONG + "。")], ["b_0"], id="a character more"
        ),
        pytest.param(
            [problem("a", LONG), problem("b", "另一道完全不同的题目")], [], id="another text"
        ),
        pytest.param(
            [problem("a", LONG, "a.png"), problem("b", LONG, "a2.png")],
            ["b_0"],
            id="alike images",
        ),
        pytest.param(
            [problem("a", LONG, "a.png"), problem("b", LONG, "b.png")], [], id="other images"
        ),
        pytest.param(
            [problem("a", LONG, "a.png"), problem("b", LONG)], [], id="one without an image"
        ),
        pytest.param(
            [problem("a", LONG), item(item_id="a_1", problem_id="a", specific=LONG)],
            [],
            id="sub-questions of one problem",
        ),
    ],
)
def test_the_later_of_two_that_are_nearly_the_same_goes(items, gone):
    assert dropped(*items) == gone


SIGN = "看到图中的这个标志时驾驶人应当知道它的含义是[MASK]"
LIMITS = "\nA. 最高限速每小时60公里\nB. 最高限速每小时80公里"
FUNCTION = "已知一次函数的解析式为二倍自变量加一，当自变量x取{}时函数值等于[MASK]"


def choice_item(name, text, answer, image="", kind="SA"):
    return replace(problem(name, text, image), answer=answer, type=kind)


@pytest.mark.parametrize(
    ("one", "other", "conflict"),
    [
        pytest.param(
            choice_item("a", SIGN + LIMITS, "A", "a.png"),
            choice_item("b", SIGN + LIMITS, "B", "a2.png"),
            "the gold is 'B', not 'A'",
            id="60 and 80 on a sign",
        ),
        pytest.param(
            choice_item("a", SIGN + LIMITS, "A", "a.png"),
            choice_item("b", SIGN + LIMITS.replace("60", "70"), "A", "a2.png"),
            "the gold is 'A', not 'A'",
            id="60 and 70 in the options",
        ),
        pytest.param(
            choice_item("a", FUNCTION.format(3), "7", kind="FB"),
            choice_item("b", FUNCTION.format(4), "9", kind="FB"),
            "the gold is '9', not '7'",
            id="x is 3 and x is 4",
        ),
        pytest.param(
            choice_item("a", FUNCTION.format(3), "7", kind="FB"),
            choice_item("b", FUNCTION.format(-3), "7", kind="FB"),
            "only one of them has -",
            id="another number, and by a slip the same gold",
        ),
        *(
            pytest.param(
                choice_item("a", LONG + mark, "7", kind="FB"),
                choice_item("b", LONG + other, "7", kind="FB"),
                f"only one of them has {', '.join(sorted({mark, other} - {''}))}",
                id=f"{mark} or {other}",
            )
            for mark, other in (
                *(
                    ("不", ""),
                    ("没", ""),
                    ("非", ""),
                    ("错误", ""),
                    ("最大", "最小"),
                    ("最高", "最低"),
                ),
                *(("最多", "最少"), ("最长", "最短"), ("上", "下"), ("左", "右")),
                *(("东", "西"), ("南", "北"), ("增", "减"), ("<", ">"), ("≤", "≥"), ("+", "-")),
                *(("=", "√"), ("1.5", "2"), ("未", ""), ("无", ""), ("除", ""), ("仅", "")),
                *(("均", ""), ("可能", ""), ("一定", ""), ("内", "外"), ("先", "后"), ("正", "反")),
                *(("半", ""), ("每", "")),
            )
        ),
        *(
            pytest.param(
                choice_item(
                    "a",
                    f"在标准大气压下{one}的温度升到同一个值以后其质量与原来相比[MASK]",
                    "不变",
                    kind="FB",
                ),
                choice_item(
                    "b",
                    f"在标准大气压下{other}的温度升到同一个值以后其质量与原来相比[MASK]",
                    "不变",
                    kind="FB",
                ),
                f"{one} is {other} in the other",
                id=f"{one} or {other}",
            )
            for one, other in (
                *(("冰", "水"), ("酸", "碱"), ("凸", "凹"), ("氧", "氮"), ("甲", "乙")),
                *(("ice", "water"), ("二", "三"), ("动物", "植")),
            )
        ),
        pytest.param(
            choice_item(
                "a", "光滑水平面上甲球以同样的速度撞乙球之后一起运动的方向是[MASK]", "左", kind="FB"
            ),
            choice_item(
                "b", "光滑水平面上乙球以同样的速度撞甲球之后一起运动的方向是[MASK]", "左", kind="FB"
            ),
            "the order of the words is another one in the other",
            id="who pushes whom",
        ),
        pytest.param(
            choice_item("a", f"{LONG}\nA. [IMAGE_1]\nB. 乙", "A", "a.png"),
            choice_item("b", f"{LONG}\nA. [IMAGE_1]\nB. 乙", "B", "a2.png"),
            "the gold is 'B', not 'A'",
            id="the other image",
        ),
    ],
)
def test_what_only_looks_alike_is_a_conflict_and_both_stay(one, other, conflict):
    (pair,) = duplicates([one, other], HASHES, similarity=0.6, distance=6)
    assert (pair.conflict, pair.dropped) == (conflict, False)


def test_the_same_options_in_another_order_are_the_same_question():
    one = choice_item("a", f"{LONG}\nA. 甲甲\nB. 乙乙", "A")
    other = choice_item("b", f"{LONG}\nA. 乙乙\nB. 甲甲", "B")
    (pair,) = duplicates([one, other], HASHES, similarity=0.6, distance=6)
    assert (pair.conflict, pair.dropped) == ("", True)


def test_what_is_like_a_dropped_one_only_stays():
    """b is like a, c is like b and not like a: with b gone, c is like nothing."""
    words = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉"
    a, b, c = words, words[1:], words[1:-1]
    items = [problem(name, text) for name, text in (("a", a), ("b", b), ("c", c))]
    found = duplicates(items, HASHES, similarity=0.92, distance=6)
    assert [(one.item_id, one.earlier, one.dropped) for one in found] == [
        ("b_0", "a_0", True),
        ("c_0", "b_0", False),
    ]


def options(*texts):
    return "选[MASK]\n" + "\n".join(
        f"{a}. {t}" for a, t in zip("ABCDEFGHIJKLMN", texts, strict=False)
    )


@pytest.mark.parametrize(
    ("fields", "defect"),
    read_cases(__file__, "item_defects.jsonl", tuples=True),
)
def test_a_defect_is_found(fields, defect):
    assert any(defect in found for found in defects(item(**fields)))


@pytest.mark.parametrize(
    "fields",
    read_cases(__file__, "sound_items.jsonl"),
)
def test_a_sound_item_has_none(fields):
    assert defects(item(**fields)) == []
