"""Validates answers, and resolves which of them count and which units are open.

A person's last answer to a unit counts. Answers without a time, such as those from a file, count
in their order; answers of another backend come after them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from bench_assets.annotation.tasks import (
    MARK_KINDS,
    NO_TERMS,
    AnnotationTask,
    AnnotationTerms,
    Answer,
    Field,
    Unit,
    Values,
)

_SHARE = r"(?:0|1|0?\.\d+|1\.0+)"
_POINT = re.compile(rf"{_SHARE} {_SHARE}", re.ASCII)
_BOX = re.compile(rf"{_SHARE}(?: {_SHARE}){{3}}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LISTS = ("choices", "texts", *MARK_KINDS)


class AnswerValidator:
    """Validates answers against the current version of a task and its units."""

    def __init__(self, task: AnnotationTask, units: Mapping[str, Unit]) -> None:
        """Store the task and its units, by id."""
        self._task, self._units = task, units
        self._version = task.version
        self._digests: dict[str, str] = {}

    def find_complaint(self, answer: Answer) -> str:
        """Reason why an answer does not count; "" if it does."""
        if answer.complaint or answer.skipped:
            return answer.complaint or "skipped"
        return self.find_mismatch(answer) or self._misfit(answer)

    def answer_key(self, answer: Answer) -> tuple[str, str, str]:
        """Unit, its version and person of an answer; without a digest, the present version."""
        unit_id, digest, person = _place(answer)
        unit = self._units.get(unit_id)
        return unit_id, digest or (self._digest(unit) if unit else ""), person

    def find_mismatch(self, answer: Answer) -> str:
        """Mismatch of an answer's unit or author; "" if none."""
        unit = self._units.get(answer.unit_id)
        if unit is None:
            return f"unit {answer.unit_id!r} is not published"
        if answer.task_version not in ("", self._version):
            return "given to an earlier version of the task"
        if answer.unit_digest not in ("", self._digest(unit)):
            return "given before the unit changed"
        if answer.person in unit.barred:
            return f"{answer.person!r} may not answer: they made the unit"
        if answer.changed_by not in ("", answer.person):
            return f"changed by {answer.changed_by!r}, not by its annotator"
        return ""

    def _misfit(self, answer: Answer) -> str:
        choices = self._units[answer.unit_id].choices
        return "; ".join(find_misfits(answer.values, self._task, choices))

    def _digest(self, unit: Unit) -> str:
        known_digest = self._digests.get(unit.unit_id)
        if known_digest is None:
            known_digest = self._digests[unit.unit_id] = unit.digest
        return known_digest


def find_misfits(values: Values, task: AnnotationTask, choices: Values) -> list[str]:
    """Find values that do not fit the task; empty if all fit."""
    known = [field.name for field in task.fields]
    return [f"there is no field {name!r}" for name in values if name not in known] + [
        f"{field.name}: {error}"
        for field in task.fields
        for error in field_errors(
            field, values.get(field.name, ()), choices.get(field.name, field.choices)
        )
    ]


def field_errors(field: Field, given: Sequence[str], choices: Sequence[str]) -> Iterator[str]:
    """Complaints about the entries of one field."""
    if not given or not any(value.strip() for value in given):
        if field.required:
            yield "empty"
        return
    if field.kind not in _LISTS and len(given) > 1:
        yield f"{len(given)} entries (expected 1)"
    if field.kind in _LISTS and not field.least <= len(given) <= field.most:
        yield f"{len(given)} entries (expected {field.least} to {field.most})"
    yield from filter(None, (_fault(field, value, choices) for value in given))
    if field.kind in ("choices", "texts") and len(set(given)) < len(given):
        yield "duplicate entry"


def _fault(field: Field, value: str, choices: Sequence[str]) -> str:
    if field.kind in ("choice", "choices"):
        return "" if value in choices else f"{value!r:.60} is none of {', '.join(choices)}"
    if field.kind == "points":
        return "" if _POINT.fullmatch(value) else f"{value!r:.60} is not a point of the image"
    if field.kind == "boxes":
        return "" if _is_box(value) else f"{value!r:.60} is not a box of the image"
    if field.kind == "image":
        return "" if _DIGEST.fullmatch(value) else f"{value!r:.60} is not an image of the store"
    most = field.most if field.kind == "text" else 2000
    return "" if len(value) <= most else f"{len(value)} characters, at most {most}"


def _is_box(value: str) -> bool:
    if not _BOX.fullmatch(value):
        return False
    left, top, right, bottom = map(float, value.split())
    return left < right and top < bottom


ATTENTION_CHECK = "an attention check"
"""Complaint of every answer to an attention check, right or wrong: it is not a vote."""


class ResolvedAnswers(NamedTuple):
    """The answers that count, and those that do not, with reasons."""

    answers: list[Answer]
    refused: list[Answer]  # each with its complaint

    @property
    def all(self) -> list[Answer]:
        """All answers, in the order of the table."""
        return sorted([*self.answers, *self.refused], key=_place)


def _place(answer: Answer) -> tuple[str, str, str]:
    return answer.unit_id, answer.unit_digest, answer.person


def latest_answers(
    answers: Iterable[Answer], place: Callable[[Answer], Hashable] = _place
) -> list[Answer]:
    """Keep each person's last answer to each version of a unit; sorted."""
    ordered = sorted(answers, key=lambda one: (one.changed_at, one.at, one.tool_id))
    return sorted(keep_latest(ordered, place), key=_place)


def resolve_answers(
    task: AnnotationTask,
    units: Sequence[Unit],
    answers: Iterable[Answer],
    terms: AnnotationTerms = NO_TERMS,
) -> ResolvedAnswers:
    """Decide which answers count.

    A person's last answer before the deadline counts. If a person gave more answers than allowed,
    the first ones count; if a person fails the attention checks, none. Attention checks are no
    votes.
    """
    units_by_id = {unit.unit_id: unit for unit in units}
    validator = AnswerValidator(task, units_by_id)
    last = _before_deadline(answers, terms.until, validator.answer_key)
    validated = [_with_complaint(answer, validator.find_complaint(answer)) for answer in last]
    careless = _careless(
        [answer for answer in validated if not answer.complaint], units_by_id, terms.least_gold
    )
    n_answers: dict[str, int] = defaultdict(int)
    counted = ResolvedAnswers([], [])
    for answer in sorted(validated, key=lambda one: (one.at, *_place(one))):
        complaint = answer.complaint
        if not complaint and units_by_id[answer.unit_id].gold:
            complaint = ATTENTION_CHECK
        complaint = complaint or careless.get(answer.person, "")
        if not complaint:
            n_answers[answer.person] += 1
            if terms.most_answers is not None and n_answers[answer.person] > terms.most_answers:
                complaint = f"beyond the {terms.most_answers} answers that a person may give"
        (counted.refused if complaint else counted.answers).append(
            _with_complaint(answer, complaint)
        )
    return ResolvedAnswers(sorted(counted.answers, key=_place), sorted(counted.refused, key=_place))


def with_needed(units: Iterable[Unit], terms: AnnotationTerms = NO_TERMS) -> list[Unit]:
    """Set the number of answers that each unit needs."""
    return [
        unit if terms.needed is None or unit.gold else replace(unit, needed=terms.needed)
        for unit in units
    ]


def open_units(units: Iterable[Unit], counted: Iterable[Answer]) -> dict[str, int]:
    """Number of answers that units still lack, sorted by id; complete units are left out."""
    annotators: dict[str, set[str]] = defaultdict(set)
    for answer in counted:
        annotators[answer.unit_id].add(answer.person)
    lacking = {
        unit.unit_id: unit.needed - len(annotators[unit.unit_id]) for unit in units if not unit.gold
    }
    return {name: n for name, n in lacking.items() if n > 0}


def attention_check_counts(
    answers: Iterable[Answer], units: Mapping[str, Unit]
) -> dict[str, tuple[int, int]]:
    """Count each person's correct and answered attention checks."""
    counts: dict[str, tuple[int, int]] = {}
    for answer in answers:
        unit = units.get(answer.unit_id)
        if unit is None or not unit.gold or answer.skipped:
            continue
        right, n = counts.get(answer.person, (0, 0))
        agrees = all(set(answer.values.get(k, ())) == set(v) for k, v in unit.gold.items())
        counts[answer.person] = right + agrees, n + 1
    return counts


def _careless(answers: Sequence[Answer], units: Mapping[str, Unit], least: float) -> dict[str, str]:
    return {
        person: f"{person!r} got {right} of {n} attention checks right, {least:.0%} are needed"
        for person, (right, n) in attention_check_counts(answers, units).items()
        if right < least * n
    }


def _before_deadline(
    answers: Iterable[Answer], until: str, place: Callable[[Answer], Hashable]
) -> list[Answer]:
    """Select each person's last answer before the deadline, or else the late one."""
    all_answers = list(answers)
    late = [answer for answer in all_answers if _is_late(answer, until)]
    in_time = latest_answers(
        (answer for answer in all_answers if not _is_late(answer, until)), place
    )
    answered = set(map(place, in_time))
    return in_time + [
        _with_complaint(answer, f"after the deadline, {until}")
        for answer in latest_answers(late, place)
        if place(answer) not in answered
    ]


def _with_complaint(answer: Answer, complaint: str) -> Answer:
    return answer if answer.complaint == complaint else replace(answer, complaint=complaint)


def _is_late(answer: Answer, until: str) -> bool:
    return bool(until) and answer.changed_at > until


Row = TypeVar("Row")


def keep_latest(rows: Iterable[Row], who_of_what: Callable[[Row], Hashable]) -> list[Row]:
    """Keep the last row for each key, at the position of the first.

    >>> keep_latest([("ana", 1), ("bo", 1), ("ana", 0)], lambda row: row[0])
    [('ana', 0), ('bo', 1)]
    """
    return list({who_of_what(row): row for row in rows}.values())
