"""The part of a response that its stored answer was read from, found by reading it again.

A score has the answer and, mostly, the form that stated it, but not where. The evidence is shown
only where reading the response again finds what is stored: rules may have changed since.
"""

from string import ascii_uppercase
from typing import NamedTuple

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.reading.numbers import parse_quantity
from bench_assets.core.reading.readings import Reading
from bench_assets.core.reading.rules import rule_names
from bench_assets.core.schema.elicitation import is_elicited
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import Task

_ONLY_NAMED = ", only named"


class StoredAnswer(NamedTuple):
    """What a ``Score`` says about the answer that was read."""

    answer: tuple[str, ...]
    note: str
    scorer: str
    named: bool
    no_answer: bool
    unread: bool
    asked_again: bool
    error: str


def find_evidence(
    task: Task, question: Question, text: str, decoding: str, stored: StoredAnswer
) -> tuple[int, int] | None:
    """Start and end (exclusive) in a response's text of what its stored answer was read from.

    None if something else than the task's rules gave the answer, such as a reader, a person or the
    authors' scorer, and if reading again finds another answer or form than the stored ones.

    Args:
        task: The task.
        question: A question of it.
        text: The response, without reasoning.
        decoding: ``Prediction.decoding`` of the response.
        stored: Its score.
    """
    form = task.form(question) if stored.scorer == task.default_scorer else None
    by_others = stored.no_answer or stored.unread or stored.asked_again or stored.error
    if form is None or by_others or is_elicited(decoding):
        return None
    reading = form.read(text)
    return reading.evidence if reading and _agrees(reading, form, stored) else None


def _agrees(reading: Reading[str], form: AnswerForm, stored: StoredAnswer) -> bool:
    """Whether a reading is the stored one: its value, whether it is only named, and its form."""
    if reading.named != stored.named:
        return False
    if stored.note == f"gives {reading.value!r}: {reading.note}":
        return True
    if stored.note != reading.note and stored.note.removesuffix(_ONLY_NAMED) in rule_names():
        return False  # another form
    options = (
        dict(zip(ascii_uppercase, form.options, strict=False)) if form.kind == "choice" else {}
    )
    texts = (reading.value, options.get(reading.value, ""))
    return any(_is_same(stored.answer, text) for text in texts)


def _is_same(answer: tuple[str, ...], value: str) -> bool:
    """Whether a stored answer is a reading's value: the same entries, or the same number.

    >>> _is_same(("A", "C"), "A C"), _is_same(("30",), "30.0 cups"), _is_same((), "A")
    (True, True, False)
    """
    joined = " ".join(answer)
    if not joined or joined.split() == value.replace(",", " ").split():
        return bool(joined)
    number, read_number = parse_quantity(joined), parse_quantity(value)
    return number is not None and read_number is not None and number.value == read_number.value
