from dataclasses import replace

import pytest

from bench_assets.suites.multi.construction.item_checks import defects, find_duplicates
from tests.cases import read_cases
from tests.fakes.multi_rows import item

HASHES = {"a.png": "00" * 8, "a2.png": "00" * 7 + "03", "b.png": "ff" * 8}
LONG = "已知函数的定义域为实数集且满足下列条件求其最大值"


def problem(name, text, image=""):
    tokens, images = ("[IMAGE_1]", (image,)) if image else ("", ())
    return item(item_id=f"{name}_0", problem_id=name, specific=text + tokens, images=images)


def dropped(*items):
    pairs = find_duplicates(items, HASHES)
    return [one.item_id for one in pairs if one.dropped]


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


def choice_item(name, text, answer, image="", kind="SA"):
    return replace(problem(name, text, image), answer=answer, type=kind)


@pytest.mark.parametrize(("one", "other", "conflict"), read_cases(__file__, "item_conflicts.jsonl"))
def test_what_only_looks_alike_is_a_conflict_and_both_stay(one, other, conflict):
    items = [choice_item("a", *one), choice_item("b", *other)]
    (pair,) = find_duplicates(items, HASHES, similarity=0.6)
    assert (pair.conflict, pair.dropped) == (conflict, False)


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
