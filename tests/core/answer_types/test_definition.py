# ruff: noqa: E501
"""Golds and responses of every answer type, by pencil; no word of the readers can be taken out.

Rows are (answer type, settings, gold, response, points): None is unread.
"""

import re

import pytest

from bench_assets.core.answer_types import boxes, regions, structures
from bench_assets.core.answer_types.definition import AnswerSettings, RowContext
from bench_assets.core.answer_types.graded import GradedAnswer
from bench_assets.core.answer_types.registry import make_answer_type
from bench_assets.core.reading.numbers import parse_quantity
from bench_assets.core.schema.errors import SettingsError, SourceError
from tests.fakes.pinned_words import inline_words, survivors

READERS = [boxes, regions, structures]

NOTHING: dict[str, str] = {}
COLOURS = RowContext(options=("red", "green", "blue"))
IMAGES = RowContext(options=("<image>", "<image>", "none"))
VGA = RowContext(image_size=(640, 480))
CUP = [64, 48, 320, 240]  # a tenth to a half of VGA in both directions
CENTIMETRES, RIGHT = {"unit": "cm"}, 1.0


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
YES_NO = [
    ("yes_no", NOTHING, "yes", "Yes, there is.", 1.0),
    ("yes_no", NOTHING, "no", "There is no dog.", 1.0),
    ("yes_no", NOTHING, "no", "I don't see any dog in the image.", None),
    ("yes_no", NOTHING, "yes", "no", 0.0),
    ("yes_no", NOTHING, "yes", "A", None),
    ("yes_no", NOTHING, "yes", "Yes and no", None),
    ("yes_no", NOTHING, "yes", "", None),
    *(
        ("yes_no", NOTHING, gold, "Yes.", 1.0)
        for gold in ("yes", "Y", "true", "T", "1", 1, True, "是", "对")
    ),
    *(
        ("yes_no", NOTHING, gold, "No.", 1.0)
        for gold in ("no", "N", "false", "F", "0", 0, False, "否", "不是", "不对")
    ),
    ("text", NOTHING, "yes", "Yes, there is.", 1.0),
    ("text", NOTHING, "no", "Yes, there is.", 0.0),
    ("text", NOTHING, "no", "There is no dog.", 1.0),
]
TEXTS = [
    ("text", NOTHING, "(2, 3)", "(2, 3)", 1.0),
    ("text", NOTHING, "(2, 3)", "2", 0.0),
    ("text", NOTHING, ["mug", "cup"], "Cup", 1.0),
    ("text", NOTHING, "mug", "It is a mug.", 0.0),
    ("text", NOTHING, "['24/7', '3.4']", "3.4", 1.0),
    ("text", NOTHING, "4", "four", 1.0),
    ("text", {"matching": "anls"}, "hallo", "hello", 0.8),
    ("text", {"matching": "relaxed"}, "100", "96", 1.0),
    ("text", {"matching": "exact"}, "100", "96", 0.0),
    ("text", {"matching": "vqa"}, ["cup"] * 2 + ["mug"] * 8, "A cup.", 0.6),
    ("text", {"matching": "vqa"}, [{"answer": "cup"}] * 10, "cup", 1.0),
    ("text", {"matching": "rouge_l"}, "a red cat", "a red cat", 1.0),
    ("text", {"matching": "words"}, "the cat sat down", "The cat sat.", 0.75),
    ("text", {"matching": "anls"}, "yes", "Yes, there is.", 0.0),
]
NUMBERS = [
    ("number", NOTHING, 12, "12", 1.0),
    ("number", NOTHING, "1,200", "It is 1200.", 1.0),
    ("number", NOTHING, ".5", "1/2", 1.0),
    ("number", NOTHING, "5", "five", 1.0),
    ("number", NOTHING, 12, "between 10 and 12", None),
    ("number", NOTHING, 12, "I cannot tell.", None),
    ("number", NOTHING, 2, r"\boxed{2}", 1.0),
    *(
        ("number", NOTHING, "1000000", f"1{mark}000{mark}000", 1.0)
        for mark in ",'’\u00a0\u2009\u202f"
    ),
    ("number", NOTHING, "1200.5", "1.200,50", 1.0),
    ("number", NOTHING, "3.5", "3,5", 1.0),
    *(
        ("number", NOTHING, "120000", response, 1.0)
        for response in (
            "1.2e5",
            "1.2 × 10^5",
            "1.2 x 10^5",
            "1.2 · 10^5",
            "1.2*10^5",
            r"1.2 \times 10^{5}",
            "1.2×10⁵",
        )
    ),
    *(("number", NOTHING, "0.001", response, 1.0) for response in ("1e-3", "1 × 10⁻³")),
    *(
        ("number", NOTHING, gold, response, 1.0)
        for gold, response in (
            (3000, "3k"),
            (2500000, "2.5M"),
            (2500000, "2.5mn"),
            (1e9, "1B"),
            (1e9, "1bn"),
            (25_000_000_000, "25bn"),
            (25_000_000_000, "25 billion"),
            (25_000_000_000, "$25 billion"),
            (2_500_000_000_000, "2.5 trillion"),
            (2_500_000_000_000, "2.5tn"),
            ("6.02e23", "6.02 × 10^23"),
            (50_000_000_000, "5e10"),
            ("0.00000025", "2.5 × 10⁻⁷"),
            ("0.00000025", "25e-8"),
            ("12345678901 m", "12345678901 m"),
            ("12345678901 m", "12345678.901 km"),
            ("0.000000005 m", "0.000000005 m"),
            ("0.000000005 m", "5 nm"),
            ("5e-9 m", "5 nm"),
        )
    ),
    ("number", CENTIMETRES, "12.5", "12.5 cm", 1.0),
    ("number", CENTIMETRES, "12.5", "0.125 m", 1.0),
    ("number", CENTIMETRES, "12.5", "about 125 millimetres", 1.0),
    ("number", CENTIMETRES, "12.5 kg", "12.5 kg", 1.0),
    ("number", CENTIMETRES, "12.5", "12.5 kg", 0.0),
    ("number", CENTIMETRES, "5", "There are 5 in the picture", 1.0),
    ("number", CENTIMETRES, "5", "There are 5 in Paris", 1.0),
    ("number", CENTIMETRES, "5.08", "2 in\nas shown", 1.0),
    ("number", CENTIMETRES, "5.08", "2 in.", 1.0),
    *(
        ("number", CENTIMETRES, "5.08", f"Answer: 2 in {size}", 1.0)
        for size in ("wide", "long", "tall", "high", "thick", "deep")
    ),
    ("number", CENTIMETRES, "5", "There are 5 a day", 1.0),
    ("number", {"unit": "cm"}, 12, "twelve centimetres", 1.0),
    ("number", {"unit": "$"}, -5, "The account stands at -$5.", 1.0),
    ("number", {"unit": "$"}, 5, "The account stands at $5.", 1.0),
    ("number", NOTHING, "5 bananas", "5", 1.0),
    *(("number", NOTHING, f"{sign}12", f"{sign}12", 1.0) for sign in "$€£"),
    *(("number", NOTHING, f"{sign}12", f"{other}12", 0.0) for sign, other in ("$€", "€£", "£$")),
    ("number", NOTHING, "25%", "25%", 1.0),
    ("number", NOTHING, "25%", "25", 1.0),
    ("number", NOTHING, "25%", "0.25", 1.0),
    ("number", NOTHING, "25%", "0.25%", 0.0),
    *(
        ("number", NOTHING, "0.25", f"25{sign}", 1.0)
        for sign in ("%", " percent", " per cent", " pct")
    ),
    ("number", NOTHING, "0.25", "0.25%", 0.0),
    ("number", NOTHING, "25", "25%", 1.0),
    ("number", NOTHING, "0", "The share is 90%. Answer: 90", 0.0),
    ("number", NOTHING, "1/3", "1", 0.0),
    ("number", NOTHING, "2/5", "0.4", 1.0),
    ("number", NOTHING, "10/9", r"\frac{10}{9}", 1.0),
    ("number", NOTHING, "1.5 million", "1,500,000", 1.0),
    ("number", NOTHING, "1.5 million", "1.5", 0.0),
    ("number", NOTHING, "0.4", ".4", 1.0),
    ("number", NOTHING, "0.25", "x = .25", 1.0),
    ("number", {"tolerance": "5%"}, 100, "105", 1.0),
    ("number", {"tolerance": "5%"}, 100, "106", 0.0),
    ("number", {"tolerance": "0.5"}, 10, "10.5", 1.0),
    ("number", {"tolerance": "0.5"}, 10, "10.6", 0.0),
    ("number", {"tolerance": "decimals"}, "1.2", "1.23", 1.0),
    ("number", {"tolerance": "decimals"}, "1.2", "1.27", 0.0),
    ("number", {"tolerance": "decimals"}, "4", "4.7", 1.0),
    ("number", {"tolerance": "decimals"}, "1234567.8912 m", "1234567.8912 m", 1.0),
    ("number", {"matching": "relaxed"}, 100, "96", 1.0),
    ("number", NOTHING, "[0, 2, 1]", "[0, 2, 1]", 1.0),
    ("number", NOTHING, [0, 2, 1], "0, 1, 2", 0.0),
    *(
        ("number", NOTHING, [1, 2.5], response, 1.0)
        for response in (
            "(1,2.5)",
            "1\n2.5",
            "Step 3: the answer is [1, 2.5].",
            "They are 1 and 2.5",
        )
    ),
    ("number", NOTHING, [0, 2, 1], "0", 0.0),
    ("number", NOTHING, [0, 2, 1], "none", None),
]
BOXES = [
    ("box", NOTHING, [10, 8, 34, 38], "10", None),
    ("box", NOTHING, [10, 8, 34, 38], "[10, 8, 34, 38]", 1.0),
    ("box", {"coordinates": "xywh pixels"}, [10, 8, 34, 38], "[10, 8, 44, 46]", 1.0),
    ("box", {"coordinates": "yxyx"}, [8, 10, 38, 34], "[10, 8, 34, 38]", 1.0),
    ("box", {"coordinates": "0..1"}, [0.1, 0.1, 0.5, 0.5], "[64, 48, 320, 240]", 0.0),
    ("box", {"coordinates": "0..1", "response_coordinates": "pixels"}, [0.1, 0.1, 0.5, 0.5], "[64, 48, 320, 240]", 1.0),
    ("box", {"coordinates": "0..100"}, [10, 10, 50, 50], "[10, 10, 50, 50]", 1.0),
    ("box", {"coordinates": "0..1000"}, [100, 100, 500, 500], "[100, 100, 500, 500]", 1.0),
    ("box", {"response_coordinates": "0..1000"}, CUP, "[100, 100, 500, 500]", 1.0),
    ("box", {"response_coordinates": "xywh pixels"}, CUP, "[64, 48, 256, 192]", 1.0),
    *(("box", {"response_coordinates": f"{order} pixels"}, CUP, response, 1.0) for order in ("xywh", "yxyx") for response in (
        "x: 64, y: 48, width: 256, height: 192", "x1=64, y1=48, x2=320, y2=240", "x_min: 64, y_min: 48, x_max: 320, y_max: 240",
        '{"xmin": 64, "xmax": 320, "ymin": 48, "ymax": 240}', "left: 64, top: 48, right: 320, bottom: 240",
    )),
    ("box", {"coordinates": "xywh pixels"}, "x: 64, y: 48, width: 256, height: 192", "[64, 48, 320, 240]", 1.0),
    ("box", NOTHING, CUP, "[0.1, 0.1, 0.5, 0.5]", 1.0),
    ("box", NOTHING, CUP, "10%, 10%, 50%, 50%", 1.0),
    ("box", NOTHING, CUP, "left: 10%, top: 10%, width: 40%, height: 40%", 1.0),
    ("box", {"coordinates": "0..1000"}, [100, 100, 500, 500], "x1=10%, y1=10%, x2=50%, y2=50%", 1.0),
    ("box", NOTHING, CUP, "[320, 240, 64, 48]", 1.0),
    *(("box", NOTHING, CUP, response, 1.0) for response in (
        "```json\n[{\"bbox_2d\": [64, 48, 320, 240], \"label\": \"cup\"}]\n```",
        "(64, 48), (320, 240)", "(64,48) to (320,240)", "(64, 48) and (320, 240)", "(64, 48) - (320, 240)", "(64, 48) -> (320, 240)", "(64, 48); (320, 240)",
        "{64, 48, 320, 240}", "<64, 48, 320, 240>", "[64; 48; 320; 240]", "64 48 320 240", "[64, 48], [320, 240]",
        "top left (64, 48), bottom right (320, 240)", "top left (64 48), bottom right (320, 240)", "top left (64, 48), bottom right (320 240)", "1. [64, 48, 320, 240]", "2) [64, 48, 320, 240]", "3: [64, 48, 320, 240]",
        "bbox_1: [64, 48, 320, 240]", "box 1 [64, 48, 320, 240]", "'id': 7, 'bbox': [64, 48, 320, 240]", '"score": 0.9, [64, 48, 320, 240]', '"confidence": 0.9, [64, 48, 320, 240]', '"index": 1, [64, 48, 320, 240]', '"label": 5, [64, 48, 320, 240]',
        "x1=64, y1=48, x2=320, y2=240", '{"xmin": 64, "ymin": 48, "xmax": 320, "ymax": 240}', "x_min: 64, y_min: 48, x_max: 320, y_max: 240", "left: 64, top: 48, right: 320, bottom: 240",
        '{"x": 64, "y": 48, "w": 256, "h": 192}', '{"x": "64", "y": "48", "width": "256", "height": "192"}', "left: 64, top: 48, width: 256, height: 192",
        "The dog is at [0, 0, 10, 10]. The answer is [64, 48, 320, 240].", "[0, 0, 9, 9]. Final answer: [64, 48, 320, 240]", "Of [0, 0, 9, 9] the result is [64, 48, 320, 240]",
        "[64, 48, 320, 240], so [64, 48, 320, 240]",
    )),
    *(("box", NOTHING, CUP, response, 1.0) for response in (  # notations that count to 1000
        "<|box_start|>(100,100),(500,500)<|box_end|>", "<box>(100,100),(500,500)</box>", "<ref>a cup</ref> [[100, 100, 500, 500]]", "<box>[[100, 100, 500, 500]]</box>",
        "<|det|>[[100, 100, 500, 500]]<|/det|>", "<quad>(100,100),(500,500)</quad>", "<|object_ref_start|>cup<|object_ref_end|> [100, 100, 500, 500]", "<bbox>100 100 500 500</bbox>",
        '[{"box_2d": [100, 100, 500, 500], "label": "cup"}]', "[ymin, xmin, ymax, xmax] = [100, 100, 500, 500]", "<loc_100><loc_100><loc_500><loc_500>",
    )),
    ("box", NOTHING, [32, 48, 320, 240], "[[050,100,500,500]]", 1.0),
    ("box", NOTHING, [64, 240, 320, 480], '{"box_2d": [500, 100, 1000, 500]}', 1.0),
    ("box", NOTHING, [64, 240, 320, 480], "ymin, xmin, ymax, xmax: 500, 100, 1000, 500", 1.0),
    ("box", NOTHING, [64, 240, 320, 480], "[y_min, x_min, y_max, x_max] [500, 100, 1000, 500]", 1.0),
    ("box", NOTHING, [160, 240, 320, 480], "<loc0512><loc0256><loc1024><loc0512>", 1.0),
    ("box", NOTHING, CUP, "[0, 0, 10, 10] or [64, 48, 320, 240]", None),
    ("box", NOTHING, CUP, "I cannot find it.", None),
    ("box", NOTHING, [0, 0, 2, 2], "[1, 0, 3, 2]", 1 / 3),
    ("box", NOTHING, [[0, 0, 10, 10], [20, 20, 30, 30]], "[[20,20,30,30],[0,0,10,10]]", 1.0),
    ("box", NOTHING, [[0, 0, 10, 10], [20, 20, 30, 30]], "[20, 20, 30, 30]", 0.5),
    *(("box", NOTHING, gold, "[64, 48, 320, 240]", 1.0) for gold in (
        "[64, 48, 320, 240]", "64 48 320 240", {"x": 64, "y": 48, "w": 256, "h": 192}, {"x": 64, "y": 48, "width": 256, "height": 192}, {"left": 64, "top": 48, "width": 256, "height": 192},
        {"x1": 64, "y1": 48, "x2": 320, "y2": 240}, {"xmin": 64, "ymin": 48, "xmax": 320, "ymax": 240}, {"x_min": 64, "y_min": 48, "x_max": 320, "y_max": 240}, {"left": 64, "top": 48, "right": 320, "bottom": 240},
        {"bbox": CUP}, {"bbox_2d": CUP}, {"box": CUP}, {"box_2d": CUP}, {"bounding_box": CUP}, {"boundingBox": CUP}, [CUP],
    )),
]  # fmt: skip
POINTS = [
    ("point", NOTHING, CUP, "(100, 100)", 1.0),
    ("point", NOTHING, CUP, "(400, 100)", 0.0),
    ("point", NOTHING, CUP, "(100, 100) or (400, 100)", None),
    ("point", NOTHING, CUP, "nothing", None),
    ("point", NOTHING, CUP, '<point x="30" y="30" alt="cup">cup</point>', 1.0),
    ("point", NOTHING, CUP, '<point x="80" y="30" alt="cup">cup</point>', 0.0),
    ("point", NOTHING, CUP, '<points x1="30" y1="30" alt="cup">cup</points>', 1.0),
    ("point", NOTHING, CUP, '{"point_2d": [100, 100]}', 1.0),
    ("point", NOTHING, CUP, "pyautogui.click(x=100, y=100)", 1.0),
    ("point", NOTHING, CUP, "click(0.3, 0.3)", 1.0),
    ("point", NOTHING, CUP, "100, 100", 1.0),
    ("point", NOTHING, CUP, "(100; 100)", 1.0),
    ("point", NOTHING, CUP, "(100 100)", 1.0),
    ("point", NOTHING, CUP, "<100, 100>", 1.0),
    ("point", NOTHING, CUP, "[64, 48, 320, 240]", 1.0),
    ("point", NOTHING, CUP, "<box>(600,600),(800,800)</box>", 0.0),
    ("point", NOTHING, CUP, "<ref>cup</ref> (300, 300)", 1.0),
    ("point", {"response_coordinates": "xywh"}, CUP, "[300, 200, 40, 40]", 1.0),
    ("point", {"response_coordinates": "xywh"}, CUP, "[310, 200, 40, 40]", 0.0),
    ("point", {"response_coordinates": "yxyx"}, CUP, "[50, 300, 60, 330]", 1.0),
    ("point", {"tolerance": "10"}, [100, 100], "(110, 100)", 1.0),
    ("point", {"tolerance": "10"}, "(100, 100)", "(111, 100)", 0.0),
    *(
        ("point", {"tolerance": "20"}, [320, 240], response, 1.0)
        for response in ("(50%, 50%)", "50%, 50%", "x=50%, y=50%")
    ),
    ("point", {"tolerance": "20"}, [50, 50], "(50%, 50%)", 0.0),
    ("point", {"tolerance": "5%"}, [100, 100], "(140, 100)", 1.0),
    ("point", {"tolerance": "5%"}, [100, 100], "(141, 100)", 0.0),
]
LISTS = [
    ("list", NOTHING, ["a cup", "mug"], "Mug, a cup", 1.0),
    ("list", {"ordered": True}, ["a cup", "mug"], "Mug, a cup", 0.0),
    ("list", {"ordered": True}, [3, 1, 2], "[3, 1, 2]", 1.0),
    *(("list", NOTHING, ["red", "blue"], response, 1.0) for response in (
        "- red\n- blue", "* red\n* blue", "• red\n• blue", "1. red\n2. blue", "1) red\n2) blue", '["blue", "red"]', "red and blue", "red & blue", "red; blue", "red、blue", "red，blue", "red；blue", "red\nblue",
        "red -> blue", "red → blue", "red, and blue", "```json\n[\"red\", \"blue\"]\n```", '{"colours": ["red", "blue"]}', r"\boxed{red, blue}",
        "The colours are: red, blue.", "The answer: red, blue", "One of them is: red, blue", "The list, as asked: red, blue", "In order: red, blue", "It is as follows: red, blue", "They include: red, blue",
        "The colours are red and blue.", "These are red and blue.", "There are red and blue.", "They are red and blue.", "It is red and blue.",
    )),
    *(("list", NOTHING, ["red", "blue"], response, 1.0) for response in (
        "[red, blue]", "(red, blue)", "[red, blue].", "Answer: [red, blue]", "The colours are (red, blue).", "I see: [red, blue]", "[red and blue]",
        "**Answer:** [red, blue]", "**[red, blue]**",
    )),
    ("list", NOTHING, ["(a)", "(b)"], "(a), (b)", 1.0),
    ("list", NOTHING, ["a", "b", "c"], "a, b, & c", 1.0),
    ("list", NOTHING, "a, b", "a; b", 1.0),
    ("list", NOTHING, "a; b", "a, b", 1.0),
    ("list", NOTHING, ["a", "b"], "a", 0.0),
    ("list", NOTHING, ["a", "b"], "a, b, c", 0.0),
    ("list", NOTHING, ["a", "a", "b"], "a, b", 0.0),
    ("list", NOTHING, ["a", "b"], "", None),
    ("list", NOTHING, [1200, 3], "1,200, 3", 1.0),
    ("list", NOTHING, ["rock and roll", "pop"], "rock and roll, pop", 1.0),
]  # fmt: skip
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
JUDGES = [
    *(("0..1", response, 0.6) for response in (
        "0.6", "**0.6**", "Score: 0.6", "Grade: 0.6", "The rating is 0.6.", "Points: 0.6", "Mark: 0.6", "评分：0.6", "得分：0.6", "分数：0.6", r"\boxed{0.6}", "<think>0.3</think>0.6",
        '{"score": 0.6, "reason": "x"}', '{"grade": 0.6}', '{"rating": "0.6"}', '{"points": 0.6}',
    )),
    ("1..5", "4", 0.75), ("1..5", "4/5", 0.75), ("1..5", "4 out of 5", 0.75), ("1..5", "Rating: [[3]]", 0.5), ("1..5", "Score: 4/5", 0.75), ("1..5", "Score: 4 out of 5.", 0.75),
    ("1..5", "Score: 4\nReason: 3 of 4 points are right.", 0.75), ("0..10", "8/10", 0.8),
    ("1..5", '{"score": "4/5"}', 0.75), ("1..5", '{"score": "4 out of 5"}', 0.75), ("1..5", '{"grade": "**4**"}', 0.75), ("1..5", '{"score": "8/10"}', None), ("1..5", '{"score": true}', None),
    ("1..5", "7", None), ("1..5", "8/10", None), ("0..1", "I'd say 0.5 or 0.6", None), ("0..1", "none", None), ("0..1", "", None),
    ("1..5", "Correctness: 5\nStyle: 3\nOverall: 4", None), ("1..5", "A perfect score is 5.", None), ("1..5", '{"max_score": 5}', None),
]  # fmt: skip


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
    *given, expected, context = row
    return near(grade(*given, context).points, expected)


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
    scale = made.others.coordinates.frame((640.0, 480.0))
    gold = {side: n * scale[k % 2] for k, (side, n) in enumerate(sides.items())}
    assert instruction in made.others.instruction
    assert made.grade(response, made.gold(gold, VGA)).points == pytest.approx(1.0)


@pytest.mark.parametrize("row", [*TABLE, *JUDGES], ids=lambda row: f"{row[0]} {row[-3:]}"[:70])
def test_a_response_has_points(row):
    assert holds(row)


def test_no_word_of_the_readers_can_be_taken_out():
    assert survivors(READERS, [*TABLE, *JUDGES], holds) == []


def test_every_word_of_the_readers_can_be_found():
    assert inline_words(READERS) == []


@pytest.mark.parametrize(
    ("name", "settings", "value", "says"),
    [
        pytest.param(None, {}, [10, 8, 34, 38], "set answer_type to box", id="numbers as texts"),
        pytest.param(None, {}, [[1, 2], [3, 4]], "set answer_type to box", id="lists as texts"),
        pytest.param("number", {}, "red", "expected a number", id="a word as a number"),
        pytest.param("yes_no", {}, "maybe", "expected yes or no", id="neither yes nor no"),
        pytest.param("box", {}, [5, 5, 5, 9], "has no area", id="a box without area"),
        pytest.param("box", {}, [5, 5], "expected a box", id="a point as a box"),
        pytest.param("box", {}, {"a": 1}, "expected a box", id="an object without sides"),
        pytest.param("point", {}, "left", "expected a point", id="a word as a point"),
        pytest.param("list", {}, ["a", ""], "without empty entries", id="an empty entry"),
        pytest.param("json", {}, "x", "expected a JSON object", id="a text as JSON"),
        pytest.param("choice", {}, "A", "no options", id="a letter without options"),
        pytest.param("text", {}, None, "no answer", id="no text"),
    ],
)
def test_a_gold_of_another_type_is_refused(name, settings, value, says):
    with pytest.raises(SourceError, match=says):
        make_answer_type(name, AnswerSettings(**settings)).gold(value, RowContext())


@pytest.mark.parametrize("key", KEYS)
def test_a_key_reads_itself_and_no_part_of_it_is_right(key):
    made = make_answer_type("number", AnswerSettings())
    gold = made.gold(key, RowContext())
    assert made.grade(key, gold).points == 1
    own = parse_quantity(key).value
    parts = [one for one in re.findall(r"\d+(?:\.\d+)?", key) if float(one) != own]
    assert [one for one in parts if made.grade(one, gold).points] == []


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
            "point", {"tolerance": "decimals"}, "for numbers only", id="decimals of points"
        ),
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


def test_a_point_needs_a_tolerance():
    with pytest.raises(SettingsError, match="a point needs one"):
        grade("point", {}, [100, 100], "(100, 100)")


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
