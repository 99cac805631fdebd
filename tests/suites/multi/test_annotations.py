import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.multi.construction.decisions import (
    Annotation,
    merge,
    read_annotations,
    requested_transformations,
)
from tests.suites.multi.rows import item


def note(round_=1, item_id="gzsx_1_0", **fields):
    return Annotation(item_id=item_id, round=round_, annotator=f"a{round_}", **fields)


def test_the_second_round_works_on_what_the_first_made():
    first = note(1, difficulty="2", quality="4", changes={"answer": "C", "specific": "甲"})
    second = note(2, difficulty="5", changes={"answer": "D"})
    merged = merge([item(difficulty="", quality="", answer="B", specific="x")], [second, first])
    (kept,) = merged.items
    assert (kept.answer, kept.specific, kept.difficulty, kept.quality) == ("D", "甲", "5", "4")
    assert [(one.field, one.before, one.after, one.annotator) for one in merged.revisions] == [
        ("answer", "B", "C", "a1"),
        ("specific", "x", "甲", "a1"),
        ("difficulty", "", "2", "a1"),
        ("quality", "", "4", "a1"),
        ("answer", "C", "D", "a2"),
        ("difficulty", "2", "5", "a2"),
    ]


def test_what_an_annotator_leaves_as_it_is_is_no_revision():
    assert merge([item()], [note(changes={"answer": "B"})]).revisions == []


@pytest.mark.parametrize("round_", [1, 2])
def test_either_round_may_drop_an_item_and_says_why(round_):
    merged = merge([item(), item(item_id="y_0")], [note(round_, drop="题目有误")])
    assert [one.item_id for one in merged.items] == ["y_0"]
    assert merged.rejections[0].entry == "item gzsx_1_0"
    assert merged.rejections[0].reason == f"a{round_} dropped it in round {round_}: 题目有误"


def test_an_annotation_of_no_item_is_told():
    merged = merge([item()], [note(item_id="z_9")])
    assert [one.entry for one in merged.rejections] == ["item z_9"]


def test_the_later_wish_for_a_transformation_counts():
    wished = requested_transformations(
        [note(2, transform={"name": "negate"}), note(1, transform={"name": "to_blank"})]
    )
    assert wished == {"gzsx_1_0": {"name": "negate"}}


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        pytest.param({"round": 3}, "round 3", id="a third round"),
        pytest.param(
            {"changes": {"images": "x"}}, "cannot change \\['images'\\]", id="another field"
        ),
        pytest.param({"changes": {"type": "判断"}}, "unknown type", id="an unknown type"),
        pytest.param(
            {"transform": {"value": "x"}}, "has no 'name'", id="a nameless transformation"
        ),
        pytest.param({"difficulty": "hard"}, "expected a whole number", id="difficulty in words"),
    ],
)
def test_an_annotation_that_cannot_be_read_is_named(tmp_path, entry, complaint):
    file = tmp_path / "annotations.json"
    file.write_text(json.dumps([{"item": "x_0", "round": 1, "annotator": "a"} | entry]))
    with pytest.raises(SourceError, match=complaint):
        read_annotations(file)


def test_an_item_annotated_twice_in_a_round_is_refused(tmp_path):
    file = tmp_path / "annotations.json"
    file.write_text(json.dumps([{"item": "x_0", "round": 1, "annotator": a} for a in "ab"]))
    with pytest.raises(SourceError, match="x_0 is annotated twice in round 1"):
        read_annotations(file)
