"""Every fault is caught by the examination that is meant for it, and by no other."""

from typing import Any

import pytest

from tests.audit import faults
from tests.audit.held import KINDS, Held, exam, failed, found
from tests.fakes.rows import question

ANY = KINDS
LETTERED = ("choice",)
WITH_OPTIONS = ("choice", "options")


@pytest.fixture(scope="module")
def exams():
    return {kind: exam(kind) for kind in KINDS}


@pytest.mark.parametrize(
    ("answers", "luck", "gives_away"),
    [
        pytest.param(
            [*map(str, range(20)), "7"], "by chance 5 %, up to 50 % are usual", False, id="numbers"
        ),
        pytest.param(
            ["7"] * 60 + [*map(str, range(20))],
            "by chance 5 %",
            True,
            id="one of twenty is right too often",
        ),
    ],
)
def test_the_luck_of_one_answer_in_words_is_one_of_those_there_are(answers, luck, gives_away):
    exam = [question(question_id=f"q/{n}", answer=(one,)) for n, one in enumerate(answers)]
    finding = found(Held(questions=exam), "one_answer")
    assert luck in finding.sentence
    assert bool(finding.suspects) == gives_away


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("1,234,567", "999,999", "12,345.5", "7"), id="millions"),
        pytest.param(("0,125", "0,1", "−0,5", "−7"), id="decimal commas and minus signs"),
    ],
)
def test_the_largest_number_is_found_whatever_its_commas(options):
    exam = [
        question(question_id=f"q/{n}", kind="choice", options=options, answer=("A",))
        for n in range(40)
    ]
    assert (
        "best is the largest number, 100 % right" in found(Held(questions=exam), "numbers").sentence
    )


@pytest.mark.parametrize(
    ("kind", "keys", "check"),
    [
        pytest.param("blanks", ("cat box", "cat bag"), "contradicting_keys", id="another blank"),
        pytest.param("blanks", ("cat box", "box cat"), "contradicting_keys", id="swapped blanks"),
        pytest.param("blanks", ("cat box", "Cat box"), "repeated_questions", id="the same blanks"),
        pytest.param("choices", ("A B", "A C"), "contradicting_keys", id="another letter"),
        pytest.param("choices", ("A B", "B A"), "repeated_questions", id="the same letters"),
        pytest.param("text", ("Ann Anna", "Anna Bo"), "repeated_questions", id="a common name"),
    ],
)
def test_keys_of_several_parts_contradict_each_other_in_any_of_them(kind, keys, check):
    options = ("one cat", "two dogs", "a bird") if kind == "choices" else ()
    exam = [
        question(question_id=key, kind=kind, options=options, answer=tuple(key.split()))
        for key in keys
    ]
    held = Held(questions=exam)
    looked = ("contradicting_keys", "repeated_questions")
    assert [one for one in looked if not found(held, one).passed] == [check]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_found_in_a_fair_exam(exams, kind):
    assert failed(exams[kind]) == set()


PLANTED = [
    (fault, check, kind)
    for fault, check, kinds in [
        (faults.one_key, "one_answer", ANY),
        (faults.longest_is_right, "lengths", WITH_OPTIONS),
        (faults.largest_is_right, "numbers", LETTERED),
        (faults.letters_take_turns, "row_order", LETTERED),
        (faults.answer_in_question, "answer_in_question", ANY),
        (faults.key_in_a_text, "answer_in_question", ANY),
        (faults.answer_in_file_name, "file_names", ANY),
        (faults.blank_image, "blank_images", ANY),
        (faults.contradicting_paraphrase, "contradicting_keys", LETTERED),
        (faults.right_ones_are_denials, "surface", LETTERED),
        (faults.missing_image, "missing_images", ANY),
        (faults.forgotten_image, "missing_images", ANY),
        (faults.duplicate_image, "duplicate_images", ANY),
        (faults.repeated_question, "repeated_questions", ANY),
        (faults.contradicting_key, "contradicting_keys", ANY),
        (faults.trained_on_image, "training_images", ANY),
        (faults.trained_on_look, "training_images", ANY),
        (faults.trained_on_texts, "training_texts", ANY),
        (faults.solved_blind, "needs_images", ANY),
    ]
    for kind in kinds
]


SWEPT = list({fault: (fault, check, kind) for fault, check, kind in PLANTED}.values())
"""Each fault in one kind: to ask everything of it takes ten times as long as the one check."""

NAMED: dict[str, Any] = {
    "argnames": ("fault", "check", "kind"),
    "ids": lambda value: getattr(value, "__name__", value),
}


@pytest.mark.parametrize(argvalues=PLANTED, **NAMED)
def test_a_fault_is_caught_by_what_is_meant_for_it(exams, fault, check, kind):
    finding = found(fault(exams[kind]), check)
    assert not finding.passed
    assert finding.suspects


@pytest.mark.long
@pytest.mark.parametrize(argvalues=[one for one in PLANTED if one not in SWEPT], **NAMED)
def test_a_fault_is_caught_by_no_other_in_any_kind(exams, fault, check, kind):
    assert failed(fault(exams[kind])) == {check}
