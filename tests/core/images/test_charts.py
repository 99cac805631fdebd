"""Bars and curves: where they begin and end, by pencil."""

import math
import re
from xml.etree import ElementTree

import pytest

from bench_assets.core.images.charts import (
    Bar,
    bar_chart,
    reliability_diagram,
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


@pytest.mark.parametrize(("full", "label"), [(1.0, "x"), (1.5, "x (to 1.5)"), (2.5, "x (to 2.5)")])
def test_a_scale_beyond_one_is_printed_beside_its_bar(full, label):
    texts = drawn_texts(bar_chart([Bar(label="x", row=metric("m", 0.5), full=full)], ""))
    assert label in texts


def test_interval_chance_and_constant_lie_where_their_values_are():
    row = metric("m", 0.5, low=0.4, high=0.7, constant=0.2)
    interval, chance, constant = drawn(
        bar_chart([Bar(label="x", row=row, chance=0.25)], ""), "path"
    )
    assert interval["d"].startswith("M370.0 48H460.0")  # 250 + 300 x 0.4, 0.7
    assert chance["d"].startswith("M325.0 ")
    assert constant["d"].startswith("M310.0 ")


def test_bars_stand_below_each_other_each_between_its_name_and_its_number():
    lines = [
        Bar(label="one", row=metric("m", 0.5, low=0.4, high=0.6, n_scored=10)),
        Bar(label="two", row=metric("m", math.nan)),
        Bar(label="three", row=metric("m", 1.0, low=0.9, high=1.0, n_scored=30)),
    ]
    svg = bar_chart(lines, "accuracy")
    # 250 px of names, 300 of bars, 170 of numbers; 40 px above, 24 a bar, 8 below.
    assert size(svg) == (720, 120)
    _, one, three = drawn(svg, "rect")
    assert (one["x"], one["y"], one["height"]) == ("250", "40", "16")
    assert (three["x"], three["y"], three["height"]) == ("250", "88", "16")
    ways = [path["d"] for path in drawn(svg, "path")]
    assert ways == [  # in the middle of the bar, with an end of 8 px on each side
        "M370.0 48H430.0M370.0 44v8M430.0 44v8",
        "M520.0 96H550.0M520.0 92v8M550.0 92v8",
    ]
    legend = "line: 95 % interval; orange: best constant response; grey, dashed: chance"
    assert placed_texts(svg) == {
        "accuracy": (8, 16),
        legend: (250, 30),
        "one": (242, 52),
        "two": (242, 76),
        "three": (242, 100),
        "0.500 [0.400, 0.600] n=10": (558, 52),
        "nothing could be scored": (258, 76),
        "1.000 [0.900, 1.000] n=30": (558, 100),
    }


def test_a_tick_is_higher_than_its_bar_and_one_that_is_no_number_is_left_out():
    row = metric("m", 0.5, low=0.5, high=0.5, constant=math.nan)
    _, tick = drawn(bar_chart([Bar(label="x", row=row, chance=0.25)], ""), "path")
    assert tick["d"] == "M325.0 37v22"  # 3 px above 40 to 3 px below 56


@pytest.mark.parametrize(
    ("n", "shown"),
    [
        pytest.param(36, "x" * 36, id="what fits is whole"),
        pytest.param(37, "x" * 35 + "…", id="what does not is cut"),
    ],
)
def test_a_label_has_thirty_six_characters(n, shown):
    assert shown in drawn_texts(bar_chart([Bar(label="x" * n, row=metric("m", 0.5))], ""))


def test_a_missing_value_is_printed_as_none():
    svg = bar_chart([Bar(label="x", row=metric("m", math.nan))], "")
    assert "nothing could be scored" in svg
    assert len(drawn(svg, "rect")) == 1  # the ground


@pytest.mark.parametrize(
    ("rows", "end"),
    [
        pytest.param([], 1.0, id="of nothing"),
        pytest.param([metric("m", 0.3)], 1.0, id="shares"),
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


def test_a_dot_of_a_curve_has_its_interval():
    row = metric("run/step-1", 0.5, low=0.25, high=0.75)
    (interval,) = drawn(training_curve({1: row}, 1, "run"), "path")
    assert interval["d"] == "M62.5 190.0V90.0"


def test_a_dot_with_many_unread_responses_is_hollow_and_has_its_bounds():
    unread = {"unread": 0.3, "if_unread_wrong": 0.5, "if_unread_right": 0.75}
    rows = {1: metric("run/step-1", 0.5, **unread), 2: metric("run/step-2", 0.5)}
    svg = training_curve(rows, 2, "run")
    assert [one["fill"] == "white" for one in drawn(svg, "circle")] == [True, True]
    assert drawn(svg, "path")[0]["d"] == "M62.5 140.0V90.0"
    few = {1: metric("run/step-1", 0.5, **unread | {"unread": 0.1}), 2: rows[2]}
    assert drawn(training_curve(few, 2, "run"), "circle")[0]["fill"] != "white"


def test_a_curve_is_drawn_to_its_scale():
    rows = {1: metric("m", 2.0), 2: metric("m", 0.5)}
    _, quarter = drawn(training_curve(rows, 1, "run"), "circle")
    assert quarter["cy"] == "190.0"


def test_an_interval_that_nobody_knows_is_neither_drawn_nor_written():
    row = metric("m", 0.5, low=math.nan, high=math.nan, n_scored=1)
    of_bar, of_curve = bar_chart([Bar(label="x", row=row)], ""), training_curve({1: row}, 1, "run")
    assert not drawn(of_bar, "path")
    assert not drawn(of_curve, "path")
    assert "0.500 n=1" in drawn_texts(of_bar)


def test_what_could_not_be_scored_lies_at_the_foot_of_a_curve():
    rows = {1: metric("run/step-1", math.nan, low=math.nan, high=math.nan), 2: metric("m", 0.5)}
    first, second = drawn(training_curve(rows, 2, "run"), "circle")
    assert first["cy"] == "240.0"
    assert (first["cx"], second["cx"]) == ("62.5", "612.5")  # however near its two steps are


@pytest.mark.parametrize(
    ("value", "cy"),
    [
        pytest.param(-0.5, "240.0", id="below nothing is nothing"),
        pytest.param(2.0, "40.0", id="the highest of all is the end of the scale"),
    ],
)
def test_a_curve_stays_between_its_ends(value, cy):
    (dot,) = drawn(
        training_curve({1: metric("m", value, low=value, high=value)}, 1, "run"), "circle"
    )
    assert dot["cy"] == cy


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


def test_the_axes_of_a_reliability_diagram_are_labelled_beside_them():
    places = placed_texts(reliability_diagram([(0.5, 0.4, 10)], [(1.0, 0.4)], "title"))
    # axes of 200 px from 60 and 380 on, labels 6 px before them; of two equal texts the right one
    assert [places[text][0] for text in ("accuracy", "0")] == [374, 374]
    assert [places[text][0] for text in ("confidence", "1")] == [160, 580]
    assert places["accuracy"][1] == (places["0"][1] - 4 + 40) / 2  # the axes begin at y = 40
