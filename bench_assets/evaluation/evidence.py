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


class StoredAnswer(NamedTuple):
    """Fields of a ``Score`` about the answer that was read."""

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
    """Find the start and end (exclusive) of the text that a stored answer was read from.

    None if the answer does not come from the task's rules, but from a reader, a person or the
    authors' scorer; also if reading again finds another answer or form than the stored ones.
    ``text`` is the response without reasoning, and ``decoding`` that of its prediction.
    """
    form = task.form(question) if stored.scorer == task.default_scorer else None
    is_not_read = stored.no_answer or stored.unread or stored.asked_again or stored.error
    if form is None or is_not_read or is_elicited(decoding):
        return None
    reading = form.read(text)
    return reading.evidence if reading and _is_stored(reading, form, stored) else None


def _is_stored(reading: Reading[str], form: AnswerForm, stored: StoredAnswer) -> bool:
    """Whether a reading is the stored one: its value, whether it is only named, and its form."""
    if reading.named != stored.named:
        return False
    if stored.note == f"gives {reading.value!r}: {reading.note}":
        return True
    if stored.note != reading.note and stored.note.removesuffix(", only named") in rule_names():
        return False  # another form
    if _is_same_answer(stored.answer, reading.value):
        return True
    if form.kind != "choice":
        return False
    options = dict(zip(ascii_uppercase, form.options, strict=False))
    return _is_same_answer(stored.answer, options.get(reading.value, ""))


def _is_same_answer(answer: tuple[str, ...], value: str) -> bool:
    """Whether a stored answer is a reading's value: the same entries, or the same number.

    >>> _is_same_answer(("A", "C"), "A C"), _is_same_answer(("30",), "30.0 cups")
    (True, True)
    >>> _is_same_answer((), "A")
    False
    """
    joined = " ".join(answer)
    if not joined:
        return False
    if joined.split() == value.replace(",", " ").split():
        return True
    stored_number, read_number = parse_quantity(joined), parse_quantity(value)
    if stored_number is None or read_number is None:
        return False
    return stored_number.value == read_number.value
