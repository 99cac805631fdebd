"""Options that mean the same and options that do not; questions that only wording tells apart."""

from dataclasses import replace

import pytest

from bench_assets.audit.items.ambiguous_options import (
    ambiguous_options,
    canonical_option,
    paraphrase_key,
)
from tests.audit.held import exam
from tests.cases import read_rows
from tests.fakes.rows import question


@pytest.mark.parametrize(("a", "b"), read_rows(__file__, "same_options.jsonl"))
def test_options_that_mean_the_same_are_ambiguous(a: str, b: str) -> None:
    assert canonical_option(a) == canonical_option(b)
    held = exam("choice", 20)
    options = (a, "something else", b, "nothing")
    changed = replace(held.questions[3], options=options, answer=("A",))
    found = ambiguous_options(
        replace(held, questions=[*held.questions[:3], changed, *held.questions[4:]])
    )
    assert [one.about for one in found.suspects] == [changed.question_id]


@pytest.mark.parametrize(("a", "b"), read_rows(__file__, "other_options.jsonl"))
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
