import pytest

from tests.audit.memory_evidence import MemoryEvidence, run_check
from tests.fakes.rows import question


@pytest.mark.parametrize("options", [("+", "-"), ("5", "-5"), ("x > 3", "x < 3")])
def test_keys_that_differ_in_a_sign_contradict_each_other(options: tuple[str, str]) -> None:
    questions = [
        question(question_id=key, kind="choice", options=options, answer=(key,)) for key in "AB"
    ]
    evidence = MemoryEvidence(questions=questions)
    assert [row.about for row in run_check(evidence, "contradicting_keys").suspects] == ["B"]
    assert not run_check(evidence, "repeated_questions").suspects
