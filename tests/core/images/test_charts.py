"""Bars and curves: where they begin and end, by pencil."""

import math
import re
from xml.etree import ElementTree

import pytest

from bench_assets.core.images.charts import (
    Bar,
    bar_chart,
    scale,
)
from tests.fakes.rows import metric

SVG = "{http://www.w3.org/2000/svg}"


def drawn(svg: str, kind: str) -> list[dict[str, str]]:
    return [found.attrib for found in ElementTree.fromstring(svg).iter(f"{SVG}{kind}")]


def drawn_texts(svg: str) -> list[str | None]:
    return [found.text for found in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("value", "full", "width"),
    [
        # 300 px are the whole scale.
        pytest.param(0.5, 1.0, 150, id="a half"),
        pytest.param(2.0, 4.0, 150, id="a half of a longer scale"),
        pytest.param(-0.2, 1.0, 0, id="below nothing is nothing"),
        pytest.param(1.5, 1.0, 300, id="off the scale lies at its end"),
    ],
)
def test_a_bar_is_as_long_as_its_value(value, full, width):
    rects = drawn(bar_chart([Bar(label="x", row=metric("m", value), full=full)], ""), "rect")
    assert float(rects[1]["width"]) == width


def test_interval_chance_and_constant_lie_where_their_values_are():
    row = metric("m", 0.5, low=0.4, high=0.7, constant=0.2)
    interval, chance, constant = drawn(
        bar_chart([Bar(label="x", row=row, chance=0.25)], ""), "path"
    )
    assert interval["d"].startswith("M370.0 48H460.0")  # 250 + 300 x 0.4, 0.7
    assert chance["d"].startswith("M325.0 ")
    assert constant["d"].startswith("M310.0 ")


def test_a_missing_value_is_printed_as_none():
    svg = bar_chart([Bar(label="x", row=metric("m", math.nan))], "")
    assert "nothing could be scored" in svg
    assert len(drawn(svg, "rect")) == 1  # the ground


@pytest.mark.parametrize(
    ("rows", "end"),
    [
        pytest.param([metric("m", math.nan, low=math.nan, high=math.nan)], 1.0, id="no value"),
        pytest.param([metric("m", 2.0, high=2.5), metric("m", 1.0)], 2.5, id="CIDEr"),
        pytest.param([metric("m", 0.2, constant=3.0)], 3.0, id="a constant beyond it"),
    ],
)
def test_a_scale_ends_at_one_or_beyond(rows, end):
    assert scale(rows) == end


def test_an_interval_that_nobody_knows_is_neither_drawn_nor_written():
    row = metric("m", 0.5, low=math.nan, high=math.nan, n_scored=1)
    of_bar = bar_chart([Bar(label="x", row=row)], "")
    assert not drawn(of_bar, "path")
    assert "0.500 n=1" in drawn_texts(of_bar)


def test_names_of_strangers_are_texts_of_bounded_length():
    name = '<script>alert("x")</script>\x00\ud800&' + "x" * 10_000
    bar = Bar(label=name, row=metric("m", 0.5))
    texts = [
        found.text for found in ElementTree.fromstring(bar_chart([bar], name)).iter(f"{SVG}text")
    ]
    (label,) = [text for text in texts if text and text.endswith("…")]
    assert label.startswith("<script>alert(")
    assert len(label) == 36
    assert not re.search(r"<script", bar_chart([bar], name))
