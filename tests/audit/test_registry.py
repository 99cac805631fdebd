from typing import Any

import pytest

from tests.audit import faults
from tests.audit.memory_evidence import KINDS, MemoryEvidence, failed_checks, fair_exam, run_check
from tests.fakes.rows import question

LETTERED = ("choice",)
WITH_OPTIONS = ("choice", "options")


@pytest.fixture(scope="module")
def fair_exams():
    return {kind: fair_exam(kind) for kind in KINDS}


@pytest.mark.parametrize(
    ("answers", "expected_sentence", "has_suspects"),
    [
        pytest.param(
            [*map(str, range(20)), "7"],
            "by chance 5 %, up to 50 % are usual",
            False,
            id="twenty numbers",
        ),
        pytest.param(
            ["7"] * 60 + [*map(str, range(20))],
            "by chance 5 %",
            True,
            id="one of twenty is right too often",
        ),
    ],
)
def test_the_chance_of_one_constant_answer_is_one_in_the_distinct_answers(
    answers, expected_sentence, has_suspects
):
    questions = [question(question_id=f"q/{n}", answer=(text,)) for n, text in enumerate(answers)]
    finding = run_check(MemoryEvidence(questions=questions), "one_answer")
    assert expected_sentence in finding.sentence
    assert bool(finding.suspects) == has_suspects


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("1,234,567", "999,999", "12,345.5", "7"), id="millions"),
        pytest.param(("0,125", "0,1", "−0,5", "−7"), id="decimal commas and minus signs"),
    ],
)
def test_the_largest_number_is_found_however_numbers_are_written(options):
    questions = [
        question(question_id=f"q/{n}", kind="choice", options=options, answer=("A",))
        for n in range(40)
    ]
    finding = run_check(MemoryEvidence(questions=questions), "numbers")
    assert "best is the largest number, 100 % right" in finding.sentence


@pytest.mark.parametrize(
    ("kind", "keys", "failed_check"),
    [
        pytest.param("blanks", ("cat box", "cat bag"), "contradicting_keys", id="another blank"),
        pytest.param("blanks", ("cat box", "box cat"), "contradicting_keys", id="swapped blanks"),
        pytest.param("blanks", ("cat box", "Cat box"), "repeated_questions", id="the same blanks"),
        pytest.param("choices", ("A B", "A C"), "contradicting_keys", id="another letter"),
        pytest.param("choices", ("A B", "B A"), "repeated_questions", id="the same letters"),
        pytest.param("text", ("Ann Anna", "Anna Bo"), "repeated_questions", id="a common name"),
    ],
)
def test_keys_of_several_answers_contradict_each_other_or_repeat(kind, keys, failed_check):
    options = {"choices": ("one cat", "two dogs", "a bird")}.get(kind, ())
    questions = [
        question(question_id=key, kind=kind, options=options, answer=tuple(key.split()))
        for key in keys
    ]
    evidence = MemoryEvidence(questions=questions)
    checks = ("contradicting_keys", "repeated_questions")
    assert [name for name in checks if not run_check(evidence, name).passed] == [failed_check]


def test_a_question_repeats_the_earlier_one_although_a_later_one_repeats_both():
    text = "Which of the two red cars is in front of the house"
    texts = {"first": f"{text}?", "longer": f"{text} today?", "again": f"{text}?"}
    questions = [question(question_id=name, text=text) for name, text in texts.items()]
    finding = run_check(MemoryEvidence(questions=questions), "repeated_questions")
    reasons = {suspect.about: suspect.evidence for suspect in finding.suspects}
    assert list(reasons) == ["again", "longer"]
    assert reasons["longer"].startswith("asks what first asks")


@pytest.mark.parametrize("kind", KINDS)
def test_a_fair_exam_passes_every_check(fair_exams, kind):
    assert failed_checks(fair_exams[kind]) == set()


FAULTS = [
    (fault, check, kind)
    for fault, check, kinds in [
        (faults.one_key, "one_answer", KINDS),
        (faults.longest_option_is_right, "lengths", WITH_OPTIONS),
        (faults.largest_number_is_right, "numbers", LETTERED),
        (faults.letters_take_turns, "row_order", LETTERED),
        (faults.answer_in_all_questions, "answer_in_question", KINDS),
        (faults.answer_in_one_question, "answer_in_question", KINDS),
        (faults.answer_in_file_name, "file_names", KINDS),
        (faults.blank_image, "blank_images", KINDS),
        (faults.contradicting_paraphrase, "contradicting_keys", LETTERED),
        (faults.right_options_are_denials, "surface", LETTERED),
        (faults.missing_image, "missing_images", KINDS),
        (faults.forgotten_image, "missing_images", KINDS),
        (faults.duplicate_image, "duplicate_images", KINDS),
        (faults.repeated_question, "repeated_questions", KINDS),
        (faults.contradicting_key, "contradicting_keys", KINDS),
        (faults.trained_on_image, "training_images", KINDS),
        (faults.trained_on_similar_image, "training_images", KINDS),
        (faults.trained_on_texts, "training_texts", KINDS),
        (faults.undecided_solvable, "needs_images", KINDS),
    ]
    for kind in kinds
]

FAULT_PARAMETERS: dict[str, Any] = {
    "argnames": ("fault", "check", "kind"),
    "ids": lambda value: getattr(value, "__name__", value),
}


@pytest.mark.parametrize(argvalues=FAULTS, **FAULT_PARAMETERS)
def test_a_fault_fails_the_check_that_is_meant_for_it(fair_exams, fault, check, kind):
    finding = run_check(fault(fair_exams[kind]), check)
    assert not finding.passed
    assert finding.suspects


@pytest.mark.long
@pytest.mark.parametrize(argvalues=FAULTS, **FAULT_PARAMETERS)
def test_a_fault_fails_no_other_check(fair_exams, fault, check, kind):
    assert failed_checks(fault(fair_exams[kind])) == {check}
