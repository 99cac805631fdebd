import math
from xml.etree import ElementTree

import pytest

from bench_assets.core.images.charts import Bar, bar_chart, scale_end
from tests.fakes.rows import metric

SVG = "{http://www.w3.org/2000/svg}"


def element_attributes(svg: str, tag: str) -> list[dict[str, str]]:
    return [element.attrib for element in ElementTree.fromstring(svg).iter(f"{SVG}{tag}")]


def element_texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("value", "full", "width"),
    [
        # 300 px are the whole scale.
        pytest.param(0.5, 1.0, 150, id="a half"),
        pytest.param(2.0, 4.0, 150, id="a half of a longer scale"),
        pytest.param(-0.2, 1.0, 0, id="nothing for less than zero"),
        pytest.param(1.5, 1.0, 300, id="the whole scale for more than its end"),
    ],
)
def test_a_bar_is_as_long_as_its_value(value, full, width):
    svg = bar_chart([Bar(label="x", row=metric("m", value), full=full)], "")
    _background, bar = element_attributes(svg, "rect")
    assert float(bar["width"]) == width


def test_interval_chance_and_constant_lie_where_their_values_are():
    row = metric("m", 0.5, low=0.4, high=0.7, constant=0.2)
    svg = bar_chart([Bar(label="x", row=row, chance=0.25)], "")
    interval, chance, constant = element_attributes(svg, "path")
    assert interval["d"].startswith("M370.0 48H460.0")  # 250 + 300 x 0.4, 0.7
    assert chance["d"].startswith("M325.0 ")  # 250 + 300 x 0.25
    assert constant["d"].startswith("M310.0 ")  # 250 + 300 x 0.2


def test_a_missing_value_has_a_text_instead_of_a_bar():
    svg = bar_chart([Bar(label="x", row=metric("m", math.nan))], "")
    assert "nothing could be scored" in svg
    assert len(element_attributes(svg, "rect")) == 1  # the background


@pytest.mark.parametrize(
    ("rows", "end"),
    [
        pytest.param([metric("m", math.nan, low=math.nan, high=math.nan)], 1.0, id="no value"),
        pytest.param([metric("m", 2.0, high=2.5), metric("m", 1.0)], 2.5, id="CIDEr"),
        pytest.param([metric("m", 0.2, constant=3.0)], 3.0, id="a constant beyond one"),
    ],
)
def test_a_scale_ends_at_one_or_beyond(rows, end):
    assert scale_end(rows) == end


def test_a_missing_interval_is_neither_drawn_nor_written():
    row = metric("m", 0.5, low=math.nan, high=math.nan, n_scored=1)
    svg = bar_chart([Bar(label="x", row=row)], "")
    assert element_attributes(svg, "path") == []
    assert "0.500 n=1" in element_texts(svg)


def test_a_name_with_markup_is_an_escaped_text_of_bounded_length():
    name = '<script>alert("x")</script>\x00\ud800&' + "x" * 10_000
    svg = bar_chart([Bar(label=name, row=metric("m", 0.5))], name)
    (label,) = [text for text in element_texts(svg) if text.endswith("…")]
    assert label.startswith("<script>alert(")
    assert len(label) == 36  # the longest label of a bar
    assert "<script" not in svg
