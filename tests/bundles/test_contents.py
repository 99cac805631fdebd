"""Rows as JSON lines: they are read back unchanged, and other lines are refused."""

from dataclasses import replace
from math import isnan, nan

import pytest

from bench_assets.bundles.contents import from_lines, to_lines
from bench_assets.core.schema.errors import SourceError, TableError
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
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
        pytest.param(LINE[:-1], "line 1: not written by", id="cut short by its end of line"),
        pytest.param(b"[1]\n", "expected an object", id="a list"),
        pytest.param(LINE.replace(b":", b": ", 1), "not written by bench bundle pack", id="space"),
        pytest.param(b'{"task":"x",' + LINE[1:], "not written by bench bundle pack", id="twice"),
        pytest.param(b'{"who":"x",' + LINE[1:], "unknown field 'who'", id="an unknown field"),
        pytest.param(LINE.replace(b'"model":"m",', b""), "no field 'model'", id="a missing field"),
        pytest.param(
            LINE.replace(b'"m"', b"1"), "f: not a table of Metric", id="a number for a text"
        ),
        pytest.param(LINE.replace(b'"m"', b"null"), "no value in column", id="null for a text"),
        pytest.param(
            LINE.replace(b'"n_failed":0', b'"n_failed":0.0'),
            "not of its field's type",
            id="0.0 for 0",
        ),
        pytest.param(LINE.replace(b"5e-324", b"NaN"), "f, line 1: not JSON", id="a bare NaN"),
        pytest.param(LINE.replace(b"5e-324", b"[" * 9000), "not JSON", id="nested deeply"),
        pytest.param(
            LINE.replace(b'"m"', b'"\\ud800"'), "surrogates not allowed", id="half a character"
        ),
        pytest.param(b"\xff\xfe" + LINE, "not JSON", id="not UTF-8"),
    ],
)
def test_an_invalid_line_is_refused(line, expected_message):
    with pytest.raises(SourceError) as refused:
        from_lines(line, Metric, "f")
    assert expected_message in str(refused.value)
