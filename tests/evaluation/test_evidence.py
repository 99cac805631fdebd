"""The part of a response that its stored answer was read from."""

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


def evidence(
    text: str, stored: StoredAnswer, kind: FormKind = "choice", *, decoding: str = "t=0"
) -> str | None:
    """The part of a text that is the evidence."""
    task = replace(TASK, answer_form=lambda q: AnswerForm(kind, q.options))
    colours = question(question_id="quiz/0", task="quiz", options=("blue", "red"))
    span = find_evidence(task, colours, text, decoding, stored)
    return span and text[slice(*span)]


def test_the_evidence_is_where_the_answer_stands() -> None:
    task = replace(TASK, answer_form=lambda q: AnswerForm("choice", q.options))
    colours = question(question_id="quiz/0", task="quiz", options=("blue", "red"))
    at = RESPONSE.index("B. A would")
    assert find_evidence(task, colours, RESPONSE, "t=0", STORED) == (at, at + 1)


@pytest.mark.parametrize(
    ("text", "kind", "answer", "note", "expected"),
    [
        ("The answer is B.", "choice", ("red",), "", "B"),  # stored as the option's text
        ("The answers are A and B.", "choices", ("A", "B"), "statement of several", "A and B"),
        ("So the answer is 1,200 cups.", "number", ("1200",), "1200 against 7", "1,200 cups"),
        ("Answer: yes", "yes_no", ("yes",), "", "yes"),
        ("The answer is B.", "choice", ("The answer is B.",), "gives 'B': statement", "B"),
    ],
)
def test_answers_are_stored_in_several_ways(
    text: str, kind: FormKind, answer: tuple[str, ...], note: str, expected: str
) -> None:
    assert evidence(text, STORED._replace(answer=answer, note=note), kind) == expected


@pytest.mark.parametrize("other", read_cases(__file__, "other_scores.jsonl", tuples=True))
def test_what_does_not_agree_with_the_score_is_not_shown(other: dict[str, Any]) -> None:
    assert evidence(RESPONSE, STORED) == "B"
    assert evidence(RESPONSE, STORED._replace(**other)) is None
