from bench_assets.suites.multi.construction.decisions import (
    Annotation,
    annotate,
    duplicate_rejections,
    without_duplicates,
)
from bench_assets.suites.multi.construction.item_checks import Duplicate
from bench_assets.suites.multi.construction.selection import SelectionParameters, select
from tests.suites.multi.rows import item

ITEMS = [item(item_id=f"{name}_0", problem_id=name, knowledge=("集合",)) for name in "abcdefgh"]


def note(name, **fields):
    return Annotation(item_id=f"{name}_0", round=1, annotator="x", **fields)


def test_only_picked_items_are_annotated_and_broken_ones_go():
    decisions = select(ITEMS, SelectionParameters(), 0)
    first, *others = [one.problem_id for one in decisions if one.picked]
    passed_over = next(one.problem_id for one in decisions if not one.picked)
    notes = [note(first, changes={"answer": "E"}), note(passed_over, drop="x"), note("z")]
    annotated = annotate(ITEMS, decisions, notes)
    assert {one.problem_id for one in annotated.items} == set(others)
    assert {(one.entry, one.reason) for one in annotated.rejections} == {
        (f"item {first}_0", "the answer 'E' is not among ABCD"),
        ("item z_0", "annotated in round 1: no such item"),
    }


def test_a_dropped_duplicate_is_told_by_its_nearest_twin():
    pairs = [
        Duplicate(item_id="c_0", earlier=earlier, similarity=alike, distance=0, dropped=True)
        for earlier, alike in (("a_0", 0.8), ("b_0", 0.9))
    ]
    kept = Duplicate(item_id="d_0", earlier="c_0", similarity=0.9, distance=0, dropped=False)
    assert [one.item_id for one in without_duplicates(ITEMS[:4], [*pairs, kept])] == [
        "a_0",
        "b_0",
        "d_0",
    ]
    (told,) = duplicate_rejections([*pairs, kept])
    assert told.reason == "nearly the same as b_0: 0.90 of its shingles"
