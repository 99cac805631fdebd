from dataclasses import replace

import pytest

from bench_assets.audit.items.ambiguous_options import (
    ambiguous_options,
    canonical_option,
    paraphrase_key,
)
from tests.audit.memory_evidence import fair_exam
from tests.cases import read_rows
from tests.fakes.rows import question


@pytest.mark.parametrize(("first", "second"), read_rows(__file__, "same_options.jsonl"))
def test_options_that_mean_the_same_are_ambiguous(first: str, second: str) -> None:
    assert canonical_option(first) == canonical_option(second)
    evidence = fair_exam("choice", 20)
    options = (first, "something else", second, "nothing")
    changed, *others = evidence.questions
    changed = replace(changed, options=options, answer=("A",))
    finding = ambiguous_options(replace(evidence, questions=[changed, *others]))
    assert [suspect.about for suspect in finding.suspects] == [changed.question_id]


@pytest.mark.parametrize(("first", "second"), read_rows(__file__, "other_options.jsonl"))
def test_options_of_other_meanings_are_not_ambiguous(first: str, second: str) -> None:
    assert canonical_option(first) != canonical_option(second)


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("What colour is the car?", "Which color does the car have?", True),
        ("How many cats are in the picture?", "How many cats are there?", True),
        ("Is the dog left of the cat?", "Is the cat left of the dog?", False),
        ("What is on the table?", "What is under the table?", False),
        ("Who is not smiling?", "Who is smiling?", False),
    ],
)
def test_paraphrases_have_the_same_key(first: str, second: str, is_same: bool) -> None:
    first_key, second_key = (
        paraphrase_key(question(text=text, images=("i",))) for text in (first, second)
    )
    assert (first_key == second_key) is is_same
