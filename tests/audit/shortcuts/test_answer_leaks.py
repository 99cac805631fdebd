import pytest

from tests.audit.memory_evidence import MemoryEvidence, run_check
from tests.fakes.rows import question


@pytest.mark.parametrize(
    ("text", "n_suspects"), [("Is it a cat? Answer: yes", 1), ("Is it? Answer: yes or no", 0)]
)
def test_a_text_that_offers_alternatives_states_no_answer(text: str, n_suspects: int) -> None:
    leaking = question(kind="text", text=text, answer=("yes",))
    finding = run_check(MemoryEvidence(questions=[leaking]), "answer_in_question")
    assert len(finding.suspects) == n_suspects
