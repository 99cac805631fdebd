"""Bars and curves: where they begin and end, by pencil."""

import math
import re
from xml.etree import ElementTree

import pytest

from bench_assets.core.images.charts import (
    Bar,
    bar_chart,
    scale,
    training_curve,
)
from tests.fakes.rows import metric

SVG = "{http://www.w3.org/2000/svg}"


def drawn(svg: str, kind: str) -> list[dict[str, str]]:
    return [found.attrib for found in ElementTree.fromstring(svg).iter(f"{SVG}{kind}")]


def drawn_texts(svg: str) -> list[str | None]:
    return [found.text for found in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def placed_texts(svg: str) -> dict[str | None, tuple[float, float]]:
    return {
        found.text: (float(found.attrib["x"]), float(found.attrib["y"]))
        for found in ElementTree.fromstring(svg).iter(f"{SVG}text")
    }


def size(svg: str) -> tuple[float, float]:
    found = ElementTree.fromstring(svg).attrib
    width, height = map(float, found["viewBox"].split()[2:])
    return width, height


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


def test_a_curve_has_a_dot_a_step_and_a_ring_around_this_one():
    steps = {step: metric(f"run/step-{step}", step / 400) for step in (100, 200, 300)}
    svg = training_curve(steps, 200, "run")
    dots = drawn(svg, "circle")
    # From 62.5 px on, 550 px wide; 200 px high below 40 px: 0.25, 0.5 and 0.75 of it.
    places = [(float(dot["cx"]), float(dot["cy"])) for dot in dots]
    assert places == [(62.5, 190.0), (337.5, 140.0), (612.5, 90.0)]
    assert [dot["r"] for dot in dots] == ["3", "6", "3"]
    assert [dot["fill"] == "white" for dot in dots] == [False, True, False]
    assert size(svg) == (720, 270)  # as wide as bars are; 40 px above, 30 below


def test_a_dot_with_many_unread_responses_is_hollow_and_has_its_bounds():
    unread = {"unread": 0.3, "if_unread_wrong": 0.5, "if_unread_right": 0.75}
    rows = {1: metric("run/step-1", 0.5, **unread), 2: metric("run/step-2", 0.5)}
    svg = training_curve(rows, 2, "run")
    assert [one["fill"] == "white" for one in drawn(svg, "circle")] == [True, True]
    assert drawn(svg, "path")[0]["d"] == "M62.5 140.0V90.0"
    few = {1: metric("run/step-1", 0.5, **unread | {"unread": 0.1}), 2: rows[2]}
    assert drawn(training_curve(few, 2, "run"), "circle")[0]["fill"] != "white"


def test_an_interval_that_nobody_knows_is_neither_drawn_nor_written():
    row = metric("m", 0.5, low=math.nan, high=math.nan, n_scored=1)
    of_bar, of_curve = bar_chart([Bar(label="x", row=row)], ""), training_curve({1: row}, 1, "run")
    assert not drawn(of_bar, "path")
    assert not drawn(of_curve, "path")
    assert "0.500 n=1" in drawn_texts(of_bar)


def test_a_curve_says_its_scale_and_its_steps_and_where_the_constant_lies():
    steps = {step: metric(f"run/step-{step}", 0.5, constant=0.25) for step in (10, 30)}
    svg = training_curve(steps, 30, "run")
    (level,) = [one for one in drawn(svg, "path") if "stroke-dasharray" in one]
    assert level["d"] == "M62.5 190.0H612.5"  # as wide as the curve, a quarter up
    assert placed_texts(svg) == {
        "run": (8, 16),
        "1": (8, 44),  # half a letter, 4 px, below the line that it names
        "0": (8, 244),
        "10": (62.5, 258),
        "30": (612.5, 258),
        "0.500": (612.5, 128),
        "best constant": (618.5, 194),
    }


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
