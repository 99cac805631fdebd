from dataclasses import replace
from math import isnan, nan

import pytest

from bench_assets.bundles.contents import from_lines, to_lines
from bench_assets.core.schema.errors import SourceError, TableError
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from tests.cases import read_cases
from tests.fakes.rows import metric, prediction, question

METRIC = metric("m", 0.1 + 0.2, metric="acc", low=nan, high=5e-324, n_scored=2**62)


@pytest.mark.parametrize(
    ("row", "row_type"),
    [
        pytest.param(question(text='a"\n\r\u2028\x00\u202e中\U0001f600'), Question, id="any text"),
        pytest.param(question(labels={"b": "1", "a": "", "ß": "2"}), Question, id="labels"),
        pytest.param(question(images=("0" * 64,) * 2, options=("", ",")), Question, id="lists"),
        pytest.param(prediction(image_tokens=(1, 2), seconds=1e-17), Prediction, id="numbers"),
        pytest.param(
            Score(question_id="a", model="m", condition="c", points=None), Score, id="no points"
        ),
    ],
)
def test_rows_are_read_back_unchanged(row, row_type):
    assert from_lines(to_lines([row, row]), row_type, "f") == [row, row]


def test_numbers_keep_every_bit_and_nan_is_not_none():
    (row,) = from_lines(to_lines([METRIC]), Metric, "f")
    assert (row.value, row.high, row.n_scored) == (0.30000000000000004, 5e-324, 2**62)
    assert isnan(row.low)
    assert row.constant is None


def test_infinity_cannot_be_written():
    with pytest.raises(TableError, match="cannot be written"):
        to_lines([replace(METRIC, value=float("inf"))])


def test_an_optional_field_may_be_absent():
    line = to_lines([METRIC]).replace(b'"constant":null,', b"")
    (row,) = from_lines(line, Metric, "f")
    assert row.constant is None


LINE = to_lines([METRIC])


@pytest.mark.parametrize(
    ("line", "expected_message"),
    [
        pytest.param(b"[1]\n", "expected an object", id="a list"),
        pytest.param(LINE.replace(b"5e-324", b"[" * 9000), "not JSON", id="nested deeply"),
        pytest.param(b"\xff\xfe" + LINE, "not JSON", id="not UTF-8"),
    ],
)
def test_a_line_of_something_else_is_refused(line, expected_message):
    with pytest.raises(SourceError, match=expected_message):
        from_lines(line, Metric, "f")


@pytest.mark.parametrize(("old", "new", "expected_message"), read_cases(__file__, "changed.jsonl"))
def test_a_changed_line_is_refused(old, new, expected_message):
    changed = LINE.replace(old.encode(), new.encode(), 1)
    assert changed != LINE
    with pytest.raises(SourceError, match=expected_message):
        from_lines(changed, Metric, "f")
