import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.multi.construction.decisions import (
    Annotation,
    merge_annotations,
    read_annotations,
)
from tests.cases import read_cases
from tests.fakes.multi_rows import item


def annotation(round_, **fields):
    return Annotation(item_id="gzsx_1_0", round=round_, annotator=f"a{round_}", **fields)


def test_the_second_round_overrides_the_first():
    first = annotation(1, difficulty="2", quality="4", changes={"answer": "C", "specific": "甲"})
    second = annotation(2, difficulty="5", changes={"answer": "D"})
    merged = merge_annotations(
        [item(difficulty="", quality="", answer="B", specific="x")], [second, first]
    )
    (row,) = merged.rows
    assert (row.answer, row.specific, row.difficulty, row.quality) == ("D", "甲", "5", "4")


@pytest.mark.parametrize("round_", [1, 2])
def test_an_item_that_either_round_drops_is_rejected_with_its_reason(round_):
    merged = merge_annotations([item(), item(item_id="y_0")], [annotation(round_, drop="题目有误")])
    assert [row.item_id for row in merged.rows] == ["y_0"]
    (rejection,) = merged.rejections
    assert rejection.entry == "item gzsx_1_0"
    assert rejection.reason == f"a{round_} dropped it in round {round_}: 题目有误"


@pytest.mark.parametrize(
    ("fields", "expected_message"), read_cases(__file__, "unreadable_annotations.jsonl")
)
def test_an_annotation_that_cannot_be_read_is_named(tmp_path, fields, expected_message):
    file = tmp_path / "annotations.json"
    file.write_text(json.dumps([{"item": "x_0", "round": 1, "annotator": "a"} | fields]))
    with pytest.raises(SourceError, match=rf"annotations\.json, entry 1.*{expected_message}"):
        read_annotations(file).require()
