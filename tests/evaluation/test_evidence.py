from dataclasses import replace
from typing import Any

import pytest

from bench_assets.core.judging.second_look import AnswerForm, FormKind
from bench_assets.evaluation.evidence import StoredAnswer, find_evidence
from tests.cases import read_cases
from tests.fakes.quiz import TASK
from tests.fakes.rows import question

STORED = StoredAnswer(
    answer=("B",), note="statement", scorer="exact", named=False, no_answer=False, unread=False,
    asked_again=False, error="",
)  # fmt: skip
RESPONSE = "The lamp is red. The answer is B. A would be blue."


def evidence_text(text: str, stored: StoredAnswer, kind: FormKind = "choice") -> str | None:
    """The part of a text that is the evidence, or None."""
    task = replace(TASK, answer_form=lambda q: AnswerForm(kind, q.options))
    colours = question(question_id="quiz/0", task="quiz", options=("blue", "red"))
    span = find_evidence(task, colours, text, "t=0", stored)
    if span is None:
        return None
    start, end = span
    return text[start:end]


@pytest.mark.parametrize(
    ("text", "kind", "answer", "note", "expected"),
    [
        (RESPONSE, "choice", ("B",), "statement", "B"),
        ("The answer is B.", "choice", ("red",), "", "B"),  # stored as the option's text
        ("The answers are A and B.", "choices", ("A", "B"), "statement of several", "A and B"),
        ("So the answer is 1,200 cups.", "number", ("1200",), "1200 against 7", "1,200 cups"),
        ("Answer: yes", "yes_no", ("yes",), "", "yes"),
        ("The answer is B.", "choice", ("The answer is B.",), "gives 'B': statement", "B"),
    ],
)
def test_the_evidence_is_found_however_the_answer_is_stored(text, kind, answer, note, expected):
    assert evidence_text(text, STORED._replace(answer=answer, note=note), kind) == expected


@pytest.mark.parametrize("score_fields", read_cases(__file__, "other_scores.jsonl", tuples=True))
def test_a_text_that_contradicts_the_score_is_no_evidence(score_fields: dict[str, Any]) -> None:
    assert evidence_text(RESPONSE, STORED) == "B"
    assert evidence_text(RESPONSE, STORED._replace(**score_fields)) is None
