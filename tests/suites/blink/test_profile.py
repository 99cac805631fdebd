from math import nan
from xml.etree import ElementTree

from bench_assets.suites.blink.studies import TaskAccuracy, bars, radar

PROFILE = [
    TaskAccuracy(task="Jigsaw", accuracy=0.5, low=0.25, high=0.75, chance=0.5, n=4),
    TaskAccuracy(task="IQ_Test", accuracy=1.0, low=0.5, high=1.0, chance=0.25, n=4),
    TaskAccuracy(task="Counting", accuracy=nan, low=nan, high=nan, chance=0.25, n=0),
    TaskAccuracy(task="Art_Style", accuracy=0.0, low=0.0, high=0.5, chance=0.5, n=4),
]
SVG = "{http://www.w3.org/2000/svg}"


def test_the_radar_has_an_axis_a_task_clockwise_from_above():
    """180 px are 100 %, the middle is at 280, 280; a task without a value lies there."""
    drawn = ElementTree.fromstring(radar(PROFILE, "a <model>"))
    chance, model = (one.get("points") for one in drawn.iter(f"{SVG}polygon"))
    assert model == "280.0,190.0 460.0,280.0 280.0,280.0 280.0,280.0"
    assert chance == "280.0,190.0 325.0,280.0 280.0,325.0 190.0,280.0"
    assert "a <model>" in [text.text for text in drawn.iter(f"{SVG}text")]


def test_bars_are_as_long_as_accuracies_and_a_task_without_a_value_has_none():
    """260 px are 100 %."""
    drawn = ElementTree.fromstring(bars(PROFILE, "m"))
    widths = [one.get("width") for one in drawn.iter(f"{SVG}rect")]
    assert widths == ["100%", "130.0", "260.0", "0.0"]
    names = [text.text for text in drawn.iter(f"{SVG}text")]
    assert {"Jigsaw", "IQ Test", "Counting", "Art Style", "50.0%"} <= set(names)
