"""Rows become JSON lines and the same rows again; nothing else is read."""

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
def test_rows_come_back(row, row_type):
    written = to_lines([row, row])
    assert from_lines(written, row_type, "f") == [row, row]
    assert to_lines([row, row]) == written


def test_numbers_keep_every_bit_and_nan_stays_apart_from_nothing():
    (found,) = from_lines(to_lines([METRIC]), Metric, "f")
    assert (found.value, found.high, found.n_scored) == (0.30000000000000004, 5e-324, 2**62)
    assert isnan(found.low)
    assert found.constant is None


def test_what_json_cannot_say_is_refused():
    with pytest.raises(TableError, match="cannot be written"):
        to_lines([replace(METRIC, value=float("inf"))])


def test_a_later_field_may_be_absent():
    line = to_lines([METRIC]).replace(b'"constant":null,', b"")
    assert from_lines(line * 2, Metric, "f")[1].constant is None


LINE = to_lines([METRIC])


@pytest.mark.parametrize(
    ("line", "says"),
    [
        pytest.param(LINE[:-1], "line 1", id="cut short by its end of line"),
        pytest.param(b"[1]\n", "expected an object", id="a list"),
        pytest.param(
            LINE.replace(b":", b": ", 1), "not written by bench bundle pack", id="a space"
        ),
        pytest.param(
            b'{"task":"x",' + LINE[1:], "not written by bench bundle pack", id="a field twice"
        ),
        pytest.param(b'{"who":"x",' + LINE[1:], "unknown field 'who'", id="an unknown field"),
        pytest.param(LINE.replace(b'"model":"m",', b""), "no field 'model'", id="a missing field"),
        pytest.param(LINE.replace(b'"m"', b"1"), "f", id="a number for a text"),
        pytest.param(LINE.replace(b'"m"', b"null"), "no value in column", id="nothing for a text"),
        pytest.param(LINE.replace(b'"n_failed":0', b'"n_failed":0.0'), "line 1", id="0.0 of them"),
        pytest.param(LINE.replace(b"5e-324", b"NaN"), "f, line 1", id="a bare NaN"),
        pytest.param(LINE.replace(b"5e-324", b"[" * 9000), "not JSON", id="nested deeply"),
        pytest.param(LINE.replace(b'"m"', b'"\\ud800"'), "f", id="half a character"),
        pytest.param(b"\xff\xfe" + LINE, "not JSON", id="not UTF-8"),
    ],
)
def test_everything_else_is_refused(line, says):
    with pytest.raises(SourceError) as refused:
        from_lines(line, Metric, "f")
    assert says in str(refused.value)
