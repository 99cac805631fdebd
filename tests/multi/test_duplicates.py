import pytest

from bench_assets.multi.duplicates import duplicates
from tests.multi.rows import item

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
            id="alike pictures",
        ),
        pytest.param(
            [problem("a", LONG, "a.png"), problem("b", LONG, "b.png")], [], id="other pictures"
        ),
        pytest.param(
            [problem("a", LONG, "a.png"), problem("b", LONG)], [], id="one without a picture"
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


def test_what_is_like_a_dropped_one_only_stays():
    """b is like a, c is like b and not like a: with b gone, c is like nothing."""
    words = "甲乙丙丁戊己庚辛壬癸子丑寅卯辰巳午未申酉"
    a, b, c = words, "一" + words[1:], "一" + words[1:-1] + "二"
    items = [problem(name, text) for name, text in (("a", a), ("b", b), ("c", c))]
    found = duplicates(items, HASHES, similarity=0.85, distance=6)
    assert [(one.item_id, one.earlier, one.dropped) for one in found] == [
        ("b_0", "a_0", True),
        ("c_0", "b_0", False),
    ]
