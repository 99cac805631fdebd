from dataclasses import replace

import pytest

from bench_assets.suites.multi.construction.item_checks import defects, find_duplicates
from tests.cases import read_cases
from tests.fakes.multi_rows import item

HASHES = {"a.png": "00" * 8, "a2.png": "00" * 7 + "03", "b.png": "ff" * 8}
LONG = "已知函数的定义域为实数集且满足下列条件求其最大值"


def problem(name, text, image=""):
    specific = f"{text}[IMAGE_1]" if image else text
    images = (image,) if image else ()
    return item(item_id=f"{name}_0", problem_id=name, specific=specific, images=images)


@pytest.mark.parametrize(
    ("items", "expected_ids"),
    [
        pytest.param([problem("a", LONG), problem("b", LONG)], ["b_0"], id="the same text"),
        pytest.param(
            [problem("a", LONG), problem("b", LONG + "。")], ["b_0"], id="a character more"
        ),
        pytest.param(
            [problem("a", LONG), problem("b", "另一道完全不同的题目")], [], id="another text"
        ),
        pytest.param(
            [problem("a", LONG, "a.png"), problem("b", LONG, "a2.png")], ["b_0"], id="alike images"
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
def test_the_later_of_two_similar_items_is_dropped(items, expected_ids):
    pairs = find_duplicates(items, HASHES)
    assert [pair.item_id for pair in pairs if pair.dropped] == expected_ids


def choice_item(name, text, answer, image="", kind="SA"):
    return replace(problem(name, text, image), answer=answer, type=kind)


@pytest.mark.parametrize(
    ("first", "second", "conflict"), read_cases(__file__, "item_conflicts.jsonl")
)
def test_items_with_another_text_or_gold_are_a_conflict_and_both_stay(first, second, conflict):
    items = [choice_item("a", *first), choice_item("b", *second)]
    (pair,) = find_duplicates(items, HASHES, similarity=0.6)
    assert (pair.conflict, pair.dropped) == (conflict, False)


@pytest.mark.parametrize(
    ("fields", "defect"), read_cases(__file__, "item_defects.jsonl", tuples=True)
)
def test_a_defective_item_has_its_defect(fields, defect):
    assert defect in "; ".join(defects(item(**fields)))


@pytest.mark.parametrize("fields", read_cases(__file__, "sound_items.jsonl"))
def test_a_sound_item_has_no_defect(fields):
    assert defects(item(**fields)) == []
