"""Options that mean the same and options that do not; questions that only wording tells apart."""

from dataclasses import replace

import pytest

from bench_assets.audit.items.ambiguous_options import (
    ambiguous_options,
    canonical_option,
    paraphrase_key,
)
from tests.audit.held import exam
from tests.fakes.rows import question

SAME = [
    ("3", "three"), ("3", "3.0"), ("1,000", "1000"), ("0.5", "1/2"), ("50 %", "50 percent"),
    ("50 cm", "0.5 m"), ("1.5 kg", "1500 g"), ("2 h", "120 min"), ("90°", "90 degrees"),
    ("$5", "5 dollars"), ("red and blue", "Blue and red"), ("cat or dog", "dog or cat"),
    ("The grey cat", "gray cat"), ("two cats", "2 cats"), ("a colour wheel", "Color wheel."),
    ("the theatre", "Theater"), ("it is organised", "It is organized"), ("dogs", "dog."),
    ("A brown   horse", "brown horse!"), ("twenty", "20"), ("5 metres", "5 m"),
    ("cell phone", "cellphone"), ("dark blue", "dark-blue"), ("1 1/2", "1.5"), ("3/4", "75 %"),
    ("five and a half", "5.5"), ("1e3", "1000"), ("2 feet", "24 inches"), ("1 lb", "16 oz"),
    ("70 °F", "70 degrees Fahrenheit"), ("two weeks", "14 days"), ("3 and a quarter", "13/4"),
]  # fmt: skip
OTHER = [
    ("3", "-3"), ("3", "13"), ("50 cm", "50 m"), ("50 %", "50"), ("Aa", "aa"), ("AaBb", "aabb"),
    ("AABB", "aabb"), ("x + 1", "x - 1"),
    ("red and blue", "red and green"), ("dark red", "red"), ("cat, dog", "dog, cat"), ("H2", "H₂O"),
    ("on the table", "under the table"), ("no cat", "a cat"), ("left of it", "right of it"),
    ("bus", "bu"), ("glass", "glas"), ("3 m", "3 s"), ("A", "B"), ("是", "否"), ("1/2", "1/3"),
    ("quarter to 1", "1:45"), ("quarter to 1", "quarter past 1"), ("quarter to 1 am", "12:45"),
    ("half past 7 am", "half past 7 pm"), ("half past three", "3:00"), ("7 am", "19:00"),
    ("before", "after"), ("a man and a woman", "a woman"), ("not red", "red"), ("m/s", "s/m"),
    ("north", "northeast"), ("more than 3", "less than 3"), ("all of the above", "none of these"),
    ("bike", "motorbike"), ("1.5", "15"), ("red, then blue", "blue, then red"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SAME)
def test_options_that_mean_the_same_are_ambiguous(a: str, b: str) -> None:
    assert canonical_option(a) == canonical_option(b)
    held = exam("choice", 20)
    options = (a, "something else", b, "nothing")
    changed = replace(held.questions[3], options=options, answer=("A",))
    found = ambiguous_options(
        replace(held, questions=[*held.questions[:3], changed, *held.questions[4:]])
    )
    assert [one.about for one in found.suspects] == [changed.question_id]


@pytest.mark.parametrize(("a", "b"), OTHER)
def test_options_that_differ_are_not(a: str, b: str) -> None:
    assert canonical_option(a) != canonical_option(b)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What colour is the car?", "Which color does the car have?", True),
        ("How many cats are in the picture?", "How many cats are there?", True),
        ("Is the dog left of the cat?", "Is the cat left of the dog?", False),
        ("What is on the table?", "What is under the table?", False),
        ("Who is not smiling?", "Who is smiling?", False),
    ],
)
def test_what_wording_alone_tells_apart(one: str, other: str, same: bool) -> None:
    keys = [paraphrase_key(question(text=text, images=("i",))) for text in (one, other)]
    assert (keys[0] == keys[1]) is same
