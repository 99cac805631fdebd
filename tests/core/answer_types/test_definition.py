"""Golds and responses of every answer type, by pencil; no word of the readers can be taken out.

Rows are (answer type, settings, gold, response, points): None is unread. The box of most is a
tenth to a half of an image of 640 x 480 px, in both directions.
"""

import re

import pytest

from bench_assets.core.answer_types import boxes
from bench_assets.core.answer_types.definition import AnswerSettings, RowContext
from bench_assets.core.answer_types.graded import GradedAnswer
from bench_assets.core.answer_types.registry import make_answer_type
from bench_assets.core.reading.numbers import parse_quantity, point_decimals
from bench_assets.core.schema.errors import SettingsError, SourceError
from tests.cases import read_cases, read_rows

NOTHING: dict[str, str] = {}
COLOURS = RowContext(options=("red", "green", "blue"))
IMAGES = RowContext(options=("<image>", "<image>", "none"))
VGA = RowContext(image_size=(640, 480))


def grade(name, settings, gold, response, context=None):
    """Grade as a benchmark does: of images of 640 x 480 px, unless there are options."""
    made = make_answer_type(name, AnswerSettings(**settings))
    return made.grade(response, made.gold(gold, context or VGA))


OPTIONS = [
    (None, NOTHING, "B", "(B)", 1.0),
    ("choice", NOTHING, "green", "It is green.", 1.0),
    ("choice", NOTHING, "B", "A", 0.0),
    ("choice", NOTHING, "B", "I cannot tell.", None),
    ("choices", NOTHING, ["A", "C"], "A, C", 1.0),
    ("choices", NOTHING, ["A", "C"], "A", 0.0),
    ("choices", NOTHING, "B", "B", 1.0),
    ("choices", NOTHING, "AC", "I cannot tell.", None),
    ("number", NOTHING, "B", "B", 1.0),
]
YES_NO = read_rows(__file__, "yes_no.jsonl")
TEXTS = read_rows(__file__, "texts.jsonl")
NUMBERS = read_rows(__file__, "numbers.jsonl")
BOXES = read_rows(__file__, "boxes.jsonl")  # fmt: skip
POINTS = read_rows(__file__, "points.jsonl")
LISTS = read_rows(__file__, "lists.jsonl")  # fmt: skip
VALUES = [
    ("json", NOTHING, {"a": 1, "b": "X"}, '{"b": "x", "a": 1.0}', 1.0),
    ("json", NOTHING, '{"a": null}', 'Sure:\n```json\n{"a": null}\n```', 1.0),
    ("json", NOTHING, {"a": 1}, '{"a": 2}', 0.0),
    ("json", NOTHING, {"a": 1}, '{"a": 1, "b": 2}', 0.0),
    ("json", NOTHING, {"a": [1, 2]}, '{"a": [1, 2]}', 1.0),
    ("json", NOTHING, {"a": [1, 2]}, '{"a": 1}', 0.0),
    ("json", NOTHING, {"a": True}, '{"a": "yes"}', 0.0),
    ("json", NOTHING, [1, 2], "It is [1, 2].", 1.0),
    ("json", NOTHING, {"a": 1}, "none", None),
]
GRADED = [
    ("graded", NOTHING, "a cup", "A cup.", None),
    ("graded", NOTHING, "a cup", " ", 0.0),
]
TABLE = [
    *((*row, COLOURS) for row in OPTIONS),
    ("choice", NOTHING, "B", "B", 1.0, IMAGES),
    ("choice", NOTHING, "B", "Image B.", 1.0, IMAGES),
    ("number", {"tolerance": "decimals"}, 2, "2.04", 1.0, RowContext(decimals=1)),
    ("number", NOTHING, 5, "500 cm", 1.0, RowContext(unit="m")),
    ("box", NOTHING, [0, 0, 4, 4], "[0, 0, 4, 4]", 1.0, RowContext()),
    ("box", {"coordinates": "0..1"}, [0, 0, 0.5, 0.5], "[0, 0, 0.5, 0.5]", 1.0, RowContext()),
    *(
        (*row, None)
        for row in (*YES_NO, *TEXTS, *NUMBERS, *BOXES, *POINTS, *LISTS, *VALUES, *GRADED)
    ),
]
JUDGES = read_rows(__file__, "judge_grades.jsonl")  # fmt: skip


KEYS = [  # of which a part is another value
    *("1/3", "3 1/2", "5/8 inch", "1.5 million", "1.5×10^3", "1 000", "1,200", "1'000", "3,5"),
    *("25%", "$1.5M", "5k", ".5", "-3", "−5", "1e-3", "½", "3½", "9.8 m/s²", "37°C", "12 dozen"),
    *("five", r"\frac{10}{9}", "€12.50", "1.200,50", "2 1/4 cups", "7"),
]
NO_KEYS = [
    "2:30",
    "7-8",
    "√2",
    "2π",
    "1:2",
    "x+1",
    "about five or six",
    "5 feet 3 inches",
    "10^3",
    "two thirds",
]


def near(points, expected):
    return points is expected if None in (points, expected) else abs(points - expected) < 1e-9


def holds(row):
    if len(row) == 3:
        scale, response, expected = row
        return near(GradedAnswer.of(scale, "").read_judge_grade(response).points, expected)
    name, settings, gold, response, expected, context = row
    return near(grade(name, settings, gold, response, context).points, expected)


@pytest.mark.parametrize(
    ("settings", "instruction", "response"),
    [
        ({}, "[x1, y1, x2, y2], in pixels", "[64, 48, 320, 240]"),
        ({"coordinates": "xywh"}, "[x1, y1, x2, y2], in pixels", "[64, 48, 320, 240]"),
        ({"coordinates": "yxyx"}, "[x1, y1, x2, y2], in pixels", "[64, 48, 320, 240]"),
        (
            {"coordinates": "xywh 0..1000"},
            "[x1, y1, x2, y2], between 0 and 1000",
            "[100, 100, 500, 500]",
        ),
        ({"response_coordinates": "xywh"}, "[x, y, width, height]", "[64, 48, 256, 192]"),
        ({"response_coordinates": "yxyx"}, "[y1, x1, y2, x2]", "[48, 64, 240, 320]"),
        (
            {"coordinates": "xywh", "response_coordinates": "xywh 0..1"},
            "[x, y, width, height], between 0 and 1",
            "[0.1, 0.1, 0.4, 0.4]",
        ),
    ],
)
def test_a_box_is_read_as_the_prompt_asks_for_it(settings, instruction, response):
    made = make_answer_type("box", AnswerSettings(**settings))
    sides = {"x1": 0.1, "y1": 0.1, "x2": 0.5, "y2": 0.5}  # of VGA, whatever the order of a list
    assert isinstance(made.default, boxes.BoxAnswer)
    scale = made.default.coordinates.frame((640.0, 480.0))
    assert scale is not None
    gold = {side: n * scale[k % 2] for k, (side, n) in enumerate(sides.items())}
    assert instruction in made.default.instruction
    assert made.grade(response, made.gold(gold, VGA)).points == pytest.approx(1.0)


@pytest.mark.parametrize("row", [*TABLE, *JUDGES], ids=lambda row: f"{row[0]} {row[-3:]}"[:70])
def test_a_response_has_points(row):
    assert holds(row)


@pytest.mark.parametrize(
    ("name", "settings", "value", "says"),
    read_cases(__file__, "refused_golds.jsonl"),
)
def test_a_gold_of_another_type_is_refused(name, settings, value, says):
    with pytest.raises(SourceError, match=says):
        make_answer_type(name, AnswerSettings(**settings)).gold(value, RowContext())


@pytest.mark.parametrize("key", KEYS)
def test_a_key_reads_itself_and_no_part_of_it_is_right(key):
    made = make_answer_type("number", AnswerSettings())
    gold = made.gold(key, RowContext())
    assert made.grade(key, gold).points == 1
    quantity = parse_quantity(key) or parse_quantity(point_decimals(key))
    assert quantity is not None
    numbers = re.findall(r"\d+(?:\.\d+)?", key)
    parts = [number for number in numbers if float(number) != quantity.value]
    assert [part for part in parts if made.grade(part, gold).points] == []


@pytest.mark.parametrize("key", NO_KEYS)
def test_a_key_that_is_not_one_number_is_refused(key):
    with pytest.raises(SourceError, match="expected a number"):
        make_answer_type("number", AnswerSettings()).gold(key, RowContext())


def test_several_right_options_are_no_single_choice():
    with pytest.raises(SourceError, match=r"2 right options \(expected 1\)"):
        make_answer_type("choice", AnswerSettings()).gold(["A", "B"], COLOURS)


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        pytest.param("number", {"tolerance": "much"}, "tolerance 'much'", id="no tolerance"),
        pytest.param("number", {"tolerance": "1.2.3"}, "tolerance '1.2.3'", id="no number"),
        pytest.param(
            "box", {"coordinates": "xyz"}, r"'xyz' \(expected one of", id="unknown coordinates"
        ),
        pytest.param("graded", {"scale": "5..1"}, "two ends", id="a scale upside down"),
        pytest.param(
            "graded", {"judge_prompt": "{answer}"}, "{response} is missing", id="no response"
        ),
        pytest.param("graded", {"judge_prompt": "{response} {x}"}, "{x} is unknown", id="a field"),
        pytest.param("graded", {"judge_prompt": "{response"}, "for a brace", id="an open brace"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(name, settings, says):
    with pytest.raises(SettingsError, match=says):
        make_answer_type(name, AnswerSettings(**settings))


@pytest.mark.parametrize("tolerance", ["", "decimals"])
def test_a_point_needs_a_tolerance(tolerance):
    with pytest.raises(SettingsError, match="a point needs one"):
        grade("point", {"tolerance": tolerance}, [100, 100], "(100, 100)")


def test_a_judge_is_shown_question_gold_and_response():
    made = GradedAnswer.of("1..5", "Q {question} A {answer} R {response}")
    gold = made.gold(["a cup", "mug"], RowContext())
    assert made.judge_prompt("What?", "A cup.", gold) == "Q What? A a cup or mug R A cup."
    assert "from 1 (wrong) to 5 (right)" in GradedAnswer.of("1..5", "").judge_prompt("?", "", gold)


def test_golds_are_stored_as_texts_that_are_enough_to_grade_with():
    made = make_answer_type("box", AnswerSettings(coordinates="xywh pixels"))
    assert made.gold([64, 48, 256, 192], VGA).answer == ("64,48,320,240 of 640x480",)
    assert make_answer_type("number", AnswerSettings()).gold(
        "12", RowContext(unit="cm")
    ).answer == ("12 cm",)
