"""Validation of answers: which of them count, and which units need more.

A person's last answer to a unit counts. Answers without a time, such as those from a file, count
in their order; answers of another backend come after them.
"""

import re
from collections import Counter, defaultdict
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
_LIST_KINDS = ("choices", "texts", *MARK_KINDS)
_MAX_TEXT_LENGTH = 2000  # characters of each text of a list


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
        if mismatch := self.find_mismatch(answer):
            return mismatch
        choices = self._units[answer.unit_id].choices
        return "; ".join(find_misfits(answer.values, self._task, choices))

    def answer_key(self, answer: Answer) -> tuple[str, str, str]:
        """Unit id, unit digest and person of an answer; an unknown digest is the current one."""
        unit_id, digest, person = _unit_and_person(answer)
        unit = self._units.get(unit_id)
        return unit_id, digest or (self._digest(unit) if unit else ""), person

    def find_mismatch(self, answer: Answer) -> str:
        """Reason why the unit or person is not, or no longer, the right one; "" if both are."""
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

    def _digest(self, unit: Unit) -> str:
        """Digest of a unit, computed once."""
        if unit.unit_id not in self._digests:
            self._digests[unit.unit_id] = unit.digest
        return self._digests[unit.unit_id]


def find_misfits(values: Values, task: AnnotationTask, choices: Values) -> list[str]:
    """Describe the values that do not fit the task; ``choices`` are the unit's own, by field."""
    field_names = [field.name for field in task.fields]
    misfits = [f"there is no field {name!r}" for name in values if name not in field_names]
    for field in task.fields:
        field_choices = choices.get(field.name, field.choices)
        errors = field_errors(field, values.get(field.name, ()), field_choices)
        misfits += [f"{field.name}: {error}" for error in errors]
    return misfits


def field_errors(field: Field, entries: Sequence[str], choices: Sequence[str]) -> Iterator[str]:
    """Describe the errors in the entries of one field."""
    if not any(entry.strip() for entry in entries):
        if field.required:
            yield "empty"
        return
    if field.kind not in _LIST_KINDS and len(entries) > 1:
        yield f"{len(entries)} entries (expected 1)"
    if field.kind in _LIST_KINDS and not field.least <= len(entries) <= field.most:
        noun = "entry" if len(entries) == 1 else "entries"
        yield f"{len(entries)} {noun} (expected {field.least} to {field.most})"
    yield from filter(None, (_entry_error(field, entry, choices) for entry in entries))
    if field.kind in ("choices", "texts") and len(set(entries)) < len(entries):
        yield "duplicate entry"


def _entry_error(field: Field, value: str, choices: Sequence[str]) -> str:
    """Describe why a value is no entry of a field; "" if it is one."""
    if field.kind in ("choice", "choices"):
        return "" if value in choices else f"{value!r:.60} is none of {', '.join(choices)}"
    if field.kind == "points":
        return "" if _POINT.fullmatch(value) else f"{value!r:.60} is not a point of the image"
    if field.kind == "boxes":
        return "" if _is_box(value) else f"{value!r:.60} is not a box of the image"
    if field.kind == "image":
        return "" if _DIGEST.fullmatch(value) else f"{value!r:.60} is not an image of the store"
    max_length = field.most if field.kind == "text" else _MAX_TEXT_LENGTH
    return "" if len(value) <= max_length else f"{len(value)} characters, at most {max_length}"


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
        return sorted([*self.answers, *self.refused], key=_unit_and_person)


def _unit_and_person(answer: Answer) -> tuple[str, str, str]:
    return answer.unit_id, answer.unit_digest, answer.person


def latest_answers(
    answers: Iterable[Answer], key: Callable[[Answer], Hashable] = _unit_and_person
) -> list[Answer]:
    """Keep the last answer for each key, by default each person's to each version of a unit."""
    ordered = sorted(answers, key=lambda answer: (answer.changed_at, answer.at, answer.tool_id))
    return sorted(keep_latest(ordered, key), key=_unit_and_person)


def resolve_answers(
    task: AnnotationTask,
    units: Sequence[Unit],
    answers: Iterable[Answer],
    terms: AnnotationTerms = NO_TERMS,
) -> ResolvedAnswers:
    """Decide which answers count.

    A person's last answer to a unit before the deadline counts, if it fits the task and the unit.
    If a person gave more answers than allowed, the first ones count; if a person fails the
    attention checks, none. Answers to attention checks never count.
    """
    units_by_id = {unit.unit_id: unit for unit in units}
    validator = AnswerValidator(task, units_by_id)
    latest = _latest_in_time(answers, terms.until, validator.answer_key)
    validated = [_with_complaint(answer, validator.find_complaint(answer)) for answer in latest]
    careless = _careless_complaints(
        [answer for answer in validated if not answer.complaint], units_by_id, terms.least_gold
    )
    n_answers: Counter[str] = Counter()
    counted, refused = list[Answer](), list[Answer]()
    for answer in sorted(validated, key=lambda answer: (answer.at, *_unit_and_person(answer))):
        complaint = answer.complaint
        if not complaint and units_by_id[answer.unit_id].gold:
            complaint = ATTENTION_CHECK
        complaint = complaint or careless.get(answer.person, "")
        if not complaint:
            n_answers[answer.person] += 1
            if terms.most_answers is not None and n_answers[answer.person] > terms.most_answers:
                complaint = f"beyond the {terms.most_answers} answers that a person may give"
        if complaint:
            refused.append(_with_complaint(answer, complaint))
        else:
            counted.append(answer)
    return ResolvedAnswers(
        answers=sorted(counted, key=_unit_and_person),
        refused=sorted(refused, key=_unit_and_person),
    )


def with_needed(units: Iterable[Unit], terms: AnnotationTerms) -> list[Unit]:
    """Apply the terms' number of needed answers to all units but attention checks."""
    return [
        unit if terms.needed is None or unit.gold else replace(unit, needed=terms.needed)
        for unit in units
    ]


def open_units(units: Iterable[Unit], counted: Iterable[Answer]) -> dict[str, int]:
    """Number of missing answers by unit id, without complete units and attention checks."""
    annotators: dict[str, set[str]] = defaultdict(set)
    for answer in counted:
        annotators[answer.unit_id].add(answer.person)
    n_missing = {
        unit.unit_id: unit.needed - len(annotators[unit.unit_id]) for unit in units if not unit.gold
    }
    return {unit_id: n for unit_id, n in n_missing.items() if n > 0}


def attention_check_results(
    answers: Iterable[Answer], units: Mapping[str, Unit]
) -> dict[str, list[bool]]:
    """Whether each answered attention check was answered correctly, by person."""
    results: defaultdict[str, list[bool]] = defaultdict(list)
    for answer in answers:
        unit = units.get(answer.unit_id)
        if unit is not None and unit.gold and not answer.skipped:
            is_right = all(
                set(answer.values.get(field, ())) == set(expected)
                for field, expected in unit.gold.items()
            )
            results[answer.person].append(is_right)
    return results


def _careless_complaints(
    answers: Sequence[Answer], units: Mapping[str, Unit], min_share: float
) -> dict[str, str]:
    """Complaints about people who got too few attention checks right, by person."""
    return {
        person: f"{person!r} got {sum(results)} of {len(results)} attention checks right,"
        f" {min_share:.0%} are needed"
        for person, results in attention_check_results(answers, units).items()
        if sum(results) < min_share * len(results)
    }


def _latest_in_time(
    answers: Iterable[Answer], until: str, key: Callable[[Answer], Hashable]
) -> list[Answer]:
    """Keep the last answer in time for each key; if none is, the last one, with a complaint."""
    all_answers = list(answers)
    late = [answer for answer in all_answers if _is_late(answer, until)]
    in_time = latest_answers((answer for answer in all_answers if not _is_late(answer, until)), key)
    keys_in_time = set(map(key, in_time))
    return in_time + [
        _with_complaint(answer, f"after the deadline, {until}")
        for answer in latest_answers(late, key)
        if key(answer) not in keys_in_time
    ]


def _with_complaint(answer: Answer, complaint: str) -> Answer:
    return answer if answer.complaint == complaint else replace(answer, complaint=complaint)


def _is_late(answer: Answer, until: str) -> bool:
    return bool(until) and answer.changed_at > until


Row = TypeVar("Row")


def keep_latest(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> list[Row]:
    """Keep the last row for each key, at the position of the first.

    >>> keep_latest([("ana", 1), ("bo", 1), ("ana", 0)], lambda row: row[0])
    [('ana', 0), ('bo', 1)]
    """
    return list({key(row): row for row in rows}.values())
