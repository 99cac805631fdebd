"""Whether an answer fits the task and the unit it is to: no tool is believed."""

import re
from collections.abc import Iterator, Mapping, Sequence

from bench_assets.annotation.tasks import AnnotationTask, Answer, Field, Unit, Values

_POINT = re.compile(r"(0|1|0?\.\d+|0\.\d+|1\.0+) (0|1|0?\.\d+|0\.\d+|1\.0+)", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_LISTS = ("choices", "texts", "points")


class AnswerValidator:
    """Validates answers against the current version of a task and its units."""

    def __init__(self, task: AnnotationTask, units: Mapping[str, Unit]) -> None:
        """Take the task and its units, by id."""
        self._task, self._units = task, units
        self._version = task.version
        self._digests: dict[str, str] = {}

    def complaint_of(self, answer: Answer) -> str:
        """Say why an answer does not count; "" if it does."""
        if answer.complaint or answer.skipped:
            return answer.complaint or "skipped"
        unit = self._units.get(answer.unit_id)
        if unit is None:
            return f"unit {answer.unit_id!r} is not asked any more"
        fault = self._of_another(answer, unit)
        return fault or "; ".join(misfits(answer.values, self._task, unit.choices))

    def _of_another(self, answer: Answer, unit: Unit) -> str:
        """Say to what else an answer was given, or who else gave it; "" if as it should be."""
        if answer.task_version not in ("", self._version):
            return "given to an earlier version of the task"
        if answer.unit_digest not in ("", self._digest(unit)):
            return "given before the unit changed"
        if answer.person in unit.barred:
            return f"{answer.person!r} may not answer: the unit is of their own making"
        if answer.changed_by not in ("", answer.person):
            return f"changed by {answer.changed_by!r}, not by who gave it"
        return ""

    def _digest(self, unit: Unit) -> str:
        found = self._digests.get(unit.unit_id)
        if found is None:
            found = self._digests[unit.unit_id] = unit.digest
        return found


def misfits(values: Values, task: AnnotationTask, choices: Values) -> list[str]:
    """Find what of the values does not fit the task; nothing if all do."""
    known = [field.name for field in task.fields]
    return [f"there is no field {name!r}" for name in values if name not in known] + [
        f"{field.name}: {why}"
        for field in task.fields
        for why in field_misfits(
            field, values.get(field.name, ()), choices.get(field.name, field.choices)
        )
    ]


def field_misfits(field: Field, given: Sequence[str], choices: Sequence[str]) -> Iterator[str]:
    """What is wrong with the entries of one field."""
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
        return "" if _POINT.fullmatch(value) else f"{value!r:.60} is no place on the image"
    if field.kind == "image":
        return "" if _DIGEST.fullmatch(value) else f"{value!r:.60} is no image of the store"
    most = field.most if field.kind == "text" else 2000
    return "" if len(value) <= most else f"{len(value)} characters, at most {most}"
