"""Golds and responses of every answer type.

Rows are (answer type, settings, gold, response, points), with points None for an unread response.
Most boxes reach from a tenth to a half of an image of 640 x 480 px, in both directions.
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

DEFAULTS: dict[str, str] = {}
COLOURS = RowContext(options=("red", "green", "blue"))
IMAGES = RowContext(options=("<image>", "<image>", "none"))
VGA = RowContext(image_size=(640, 480))


def grade(name, settings, gold, response, context=None):
    """Grade a response as a benchmark does; without a context, of an image of 640 x 480 px."""
    answer_type = make_answer_type(name, AnswerSettings(**settings))
    return answer_type.grade(response, answer_type.gold(gold, context or VGA))


OPTIONS = read_rows(__file__, "options.jsonl")
YES_NO = read_rows(__file__, "yes_no.jsonl")
TEXTS = read_rows(__file__, "texts.jsonl")
NUMBERS = read_rows(__file__, "numbers.jsonl")
BOXES = read_rows(__file__, "boxes.jsonl")
POINTS = read_rows(__file__, "points.jsonl")
LISTS = read_rows(__file__, "lists.jsonl")
VALUES = read_rows(__file__, "values.jsonl")
VGA_ROWS = [*YES_NO, *TEXTS, *NUMBERS, *BOXES, *POINTS, *LISTS, *VALUES]
ROWS_WITH_CONTEXT = [
    *((*row, COLOURS) for row in OPTIONS),
    ("choice", DEFAULTS, "B", "B", 1.0, IMAGES),
    ("choice", DEFAULTS, "B", "Image B.", 1.0, IMAGES),
    ("number", {"tolerance": "decimals"}, 2, "2.04", 1.0, RowContext(decimals=1)),
    ("number", {}, 2, "2 cm", 1.0, RowContext(unit="cm", decimals=1)),
    ("number", DEFAULTS, 5, "500 cm", 1.0, RowContext(unit="m")),
    ("box", DEFAULTS, [0, 0, 4, 4], "[0, 0, 4, 4]", 1.0, RowContext()),
    ("box", {"coordinates": "0..1"}, [0, 0, 0.5, 0.5], "[0, 0, 0.5, 0.5]", 1.0, RowContext()),
    *((*row, VGA) for row in VGA_ROWS),
]
JUDGE_GRADES = read_rows(__file__, "judge_grades.jsonl")  # scale, reply, points


@pytest.mark.parametrize(
    ("name", "instruction"),
    [
        ("choice", "Answer with the letter of the right option."),
        ("choices", "Answer with the letters of all right options."),
    ],
)
def test_a_prompt_asks_for_one_letter_or_for_all(name, instruction):
    assert make_answer_type(name, AnswerSettings()).default.instruction == instruction


@pytest.mark.parametrize(
    ("settings", "instruction", "response"), read_rows(__file__, "box_forms.jsonl")
)
def test_a_box_is_read_in_the_form_that_the_prompt_requests(settings, instruction, response):
    answer_type = make_answer_type("box", AnswerSettings(**settings))
    assert isinstance(answer_type.default, boxes.BoxAnswer)
    frame = answer_type.default.coordinates.frame((640.0, 480.0))
    assert frame is not None
    width, height = frame
    gold = {"x1": 0.1 * width, "y1": 0.1 * height, "x2": 0.5 * width, "y2": 0.5 * height}
    assert instruction in answer_type.default.instruction
    assert answer_type.grade(response, answer_type.gold(gold, VGA)).points == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "settings", "gold", "response", "points", "context"),
    ROWS_WITH_CONTEXT,
    ids=[f"{name}, {gold}: {response!r}" for name, _, gold, response, *_ in ROWS_WITH_CONTEXT],
)
def test_a_response_has_points(name, settings, gold, response, points, context):
    assert grade(name, settings, gold, response, context).points == pytest.approx(points, abs=1e-9)


@pytest.mark.parametrize(("scale", "reply", "points"), JUDGE_GRADES)
def test_a_grade_of_a_judge_has_points(scale, reply, points):
    grade_by_judge = GradedAnswer.of(scale, "").read_judge_grade(reply)
    assert grade_by_judge.points == pytest.approx(points, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "settings", "value", "expected_message"), read_cases(__file__, "refused_golds.jsonl")
)
def test_a_value_that_is_no_gold_of_the_type_is_refused(name, settings, value, expected_message):
    with pytest.raises(SourceError, match=expected_message):
        make_answer_type(name, AnswerSettings(**settings)).gold(value, RowContext())


@pytest.mark.parametrize("key", read_rows(__file__, "keys.jsonl"))
def test_a_key_is_a_right_response_and_no_part_of_it_is(key):
    """Parts of a key, such as 3 of 1/3, are other values."""
    answer_type = make_answer_type("number", AnswerSettings())
    gold = answer_type.gold(key, RowContext())
    assert answer_type.grade(key, gold).points == 1
    quantity = parse_quantity(key) or parse_quantity(point_decimals(key))
    assert quantity is not None
    numbers = re.findall(r"\d+(?:\.\d+)?", key)
    parts = [number for number in numbers if float(number) != quantity.value]
    assert [part for part in parts if answer_type.grade(part, gold).points] == []


@pytest.mark.parametrize("key", read_rows(__file__, "no_keys.jsonl"))
def test_a_key_that_is_not_one_number_is_refused(key):
    with pytest.raises(SourceError, match="expected a number"):
        make_answer_type("number", AnswerSettings()).gold(key, RowContext())


def test_two_right_options_are_refused_as_a_single_choice():
    with pytest.raises(SourceError, match=r"2 right options \(expected 1\)"):
        make_answer_type("choice", AnswerSettings()).gold(["A", "B"], COLOURS)


@pytest.mark.parametrize(
    ("name", "settings", "expected_message"), read_cases(__file__, "unusable_settings.jsonl")
)
def test_a_setting_that_cannot_be_used_is_refused(name, settings, expected_message):
    with pytest.raises(SettingsError, match=expected_message):
        make_answer_type(name, AnswerSettings(**settings))


@pytest.mark.parametrize("tolerance", ["", "decimals"])
def test_a_point_needs_a_tolerance(tolerance):
    with pytest.raises(SettingsError, match="a point needs one"):
        grade("point", {"tolerance": tolerance}, [100, 100], "(100, 100)")


def test_the_prompt_of_a_judge_has_question_gold_and_response():
    answer_type = GradedAnswer.of("1..5", "Q {question} A {answer} R {response}")
    gold = answer_type.gold(["a cup", "mug"], RowContext())
    assert answer_type.judge_prompt("What?", "A cup.", gold) == "Q What? A a cup or mug R A cup."


def test_the_default_prompt_of_a_judge_has_the_scale():
    answer_type = GradedAnswer.of("1..5", "")
    gold = answer_type.gold("a cup", RowContext())
    assert "from 1 (wrong) to 5 (right)" in answer_type.judge_prompt("?", "", gold)


def test_a_gold_box_is_stored_with_the_size_of_its_image():
    answer_type = make_answer_type("box", AnswerSettings(coordinates="xywh pixels"))
    gold = answer_type.gold([64, 48, 256, 192], VGA)
    assert gold.answer == ("64,48,320,240 of 640x480",)


def test_a_gold_number_is_stored_with_the_unit_of_its_row():
    gold = make_answer_type("number", AnswerSettings()).gold("12", RowContext(unit="cm"))
    assert gold.answer == ("12 cm",)
