"""The reader: applies the rules to a response, for whatever kind of answer a parser recognises.

First, what is not the response is cut off. Explicit forms (a field, a box, a statement, a line that
is an answer) compete by position: the last one wins. If there is none, rules look for one option or
one result that is named; such a reading is ``named``, and callers decide whether it counts.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import accumulate
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from bench_assets.core.reading.rules import Extent, Kind, Rule, part, rules_of

Value = TypeVar("Value")
Other = TypeVar("Other")


class Unreadable(Enum):
    """Value of a text that is meant as the answer, but is none, or several."""

    UNREADABLE = 0


UNREADABLE = Unreadable.UNREADABLE
UNREAD = "no rule reads an answer"  # why a response without a reading has no points
Parser: TypeAlias = Callable[[str, Extent], Value | Unreadable | None]
"""Reads a captured text; the extent is how much of it must be an answer."""

_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code).isalnum()}
_QUESTION_MARKS = ("?", "？")
_UNLESS_REACH = 200  # characters before a captured text that a rule's `unless` sees


@dataclass(frozen=True, slots=True)
class Reading(Generic[Value]):
    """An answer that was read."""

    value: Value
    form: str  # name of the rule that read it
    evidence: tuple[int, int]  # start and end (exclusive), in the response, of what was read
    named: bool = False  # no form states the answer: it is the only option or result named
    disputed: bool = False  # another explicit form states something else; the last one counts

    @property
    def note(self) -> str:
        """The form, and whether the answer is only named."""
        return f"{self.form}, only named" if self.named else self.form

    def with_value(self, value: Other) -> "Reading[Other]":
        """The same reading with another value, such as the text instead of the letter."""
        return Reading(
            value, form=self.form, evidence=self.evidence, named=self.named, disputed=self.disputed
        )


class PlainText(NamedTuple):
    """The part of a response that counts, without markup, in pieces with their positions."""

    text: str
    starts: list[int]  # of each piece, in the text
    shifts: list[int]  # of each piece: its start in the response minus that in the text

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map a span of the text, which is not empty, to the response."""
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1) - 1
        return start + self.shifts[first], end + self.shifts[last]


def read(kind: Kind, response: str, parse: Parser[Value]) -> Reading[Value] | None:
    """Read the last answer that is stated; if none is, the one that is named.

    None if there is neither, or the last statement has no readable answer. The response is without
    the model's reasoning; ``parse`` recognises answers.
    """
    plain = plain_text(response)
    stated = [
        reading
        for rule in rules_of(kind)
        if not rule.named
        for reading in apply_rule(rule, plain.text, parse)
    ]
    if not stated:
        reading = _read_named(kind, plain.text, parse)
    else:
        last = max(stated, key=lambda reading: reading.evidence[0])
        if isinstance(last.value, Unreadable):
            return None
        values = {reading.value for reading in stated if reading.value is not UNREADABLE}
        reading = Reading(
            value=last.value, form=last.form, evidence=last.evidence, disputed=len(values) > 1
        )
    return reading and replace(reading, evidence=plain.span(*reading.evidence))


def apply_rule(
    rule: Rule, text: str, parse: Parser[Value]
) -> Iterator[Reading[Value | Unreadable]]:
    """Every answer that one rule finds in a plain text, also those that are ``UNREADABLE``."""
    for match in rule.pattern.finditer(text):
        start, end = match.span("answer")
        captured = text[start:end]
        is_denied = rule.unless and rule.unless.search(text, max(0, start - _UNLESS_REACH), start)
        is_asked = captured.rstrip().endswith(_QUESTION_MARKS)
        value = parse(captured, rule.reads) if captured and not (is_denied or is_asked) else None
        if value is None and rule.blocks:
            value = UNREADABLE
        if value is not None:
            yield Reading(value, form=rule.name, evidence=(start, end), named=rule.named)


def _read_named(kind: Kind, text: str, parse: Parser[Value]) -> Reading[Value] | None:
    """Read the answer named by the first rule whose matches agree, or by the shortest sentence."""
    sentences: dict[int, Reading[Value]] = {}  # by length
    for rule in rules_of(kind):
        readings = list(apply_rule(rule, text, parse)) if rule.named else []
        values = {reading.value for reading in readings}
        value = values.pop() if len(values) == 1 else UNREADABLE
        if isinstance(value, Unreadable):
            continue
        start, end = readings[-1].evidence
        reading = Reading(value, form=rule.name, evidence=(start, end), named=True)
        if rule.reads not in ("mention", "words"):
            return reading
        sentences.setdefault(end - start, reading)
    return sentences[min(sentences)] if sentences else None


def plain_text(response: str) -> PlainText:
    """The part of a response that counts, without bold, formula marks and special tokens."""
    if not response.isascii():
        response = response.translate(_FULL_WIDTH)
    start, end = _relevant_span(response)
    pieces, begins = [], []
    for match in part("markup").finditer(response, start, end):
        pieces.append(response[start : match.start()])
        begins.append(start)
        start = match.end()
    pieces.append(response[start:end])
    begins.append(start)
    text = "".join(pieces)
    n_blanks = len(text) - len(text.lstrip())
    starts = [start - n_blanks for start in accumulate(map(len, pieces[:-1]), initial=0)]
    shifts = [begin - start for begin, start in zip(begins, starts, strict=True)]
    return PlainText(text=text.strip(), starts=starts, shifts=shifts)


def _relevant_span(response: str) -> tuple[int, int]:
    """Span of the response that counts: before a run-on, inside the last answer tag."""
    start, end = 0, len(response)
    for rule in rules_of("end"):
        cuts = (match.start() for match in rule.pattern.finditer(response, 0, end))
        end = next((cut for cut in cuts if response[:cut].strip()), end)
    for rule in rules_of("scope"):
        for match in rule.pattern.finditer(response, start, end):
            start, end = match.span("answer")
    return start, end
