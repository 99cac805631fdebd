"""Submitted HTML forms: read with limits, and converted to values of an annotation task."""

from asyncio import timeout
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import ClientDisconnect, Request

from bench_assets.annotation.answers.validation import field_misfits
from bench_assets.annotation.tasks import AnnotationTask, Field, Values
from bench_assets.core.text.escaping import printable
from resources.annotation.web.rendering import RefusedError
from resources.annotation.web.store import ShownUnit

MOST_TEXT = 4 * 2**20  # bytes of one field

_TIMEOUT = 120  # s, of a body
_MOST_FIELDS = 1000

LISTED = ("texts", "points")
"""Field kinds with one entry per line."""


@dataclass(slots=True)
class SubmittedForm:
    """The fields and files of a form."""

    texts: Mapping[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    files: dict[str, bytes] = field(default_factory=dict)  # without empty ones

    def first(self, name: str) -> str:
        """First entry of a field; "" if there is none."""
        return next(iter(self.texts.get(name, ())), "")


async def read_form(request: Request) -> SubmittedForm:
    """Read a form from the body of a request.

    Raises:
        HTTPException: If it is malformed or exceeds a limit.
        RefusedError: If it does not arrive in time.
    """
    found = SubmittedForm()
    try:
        async with (
            timeout(_TIMEOUT),
            request.form(
                max_files=_MOST_FIELDS, max_fields=_MOST_FIELDS, max_part_size=MOST_TEXT
            ) as sent,
        ):
            for name, value in sent.multi_items():
                if isinstance(value, str):
                    found.texts[name].append(value.replace("\r\n", "\n").replace("\r", "\n"))
                elif data := await value.read():
                    found.files[name] = data
    except (TimeoutError, ClientDisconnect) as why:
        raise RefusedError(408, "This took too long to arrive: please send it again.") from why
    return found


def values_of(task: AnnotationTask, unit: ShownUnit, sent: SubmittedForm) -> Values:
    """The values of a task's fields, without empty ones."""
    found = {
        one.name: _entries(one, sent.texts.get(one.name, []), choices)
        for one, choices in zip(task.fields, choices_of(task, unit).values(), strict=True)
    }
    return {name: given for name, given in found.items() if given}


def complaints(task: AnnotationTask, unit: ShownUnit, values: Values) -> dict[str, str]:
    """Errors in the values, by field."""
    choices = choices_of(task, unit)
    found = {
        one.name: list(field_misfits(one, values.get(one.name, ()), choices[one.name]))
        for one in task.fields
    }
    return {one.name: _sentence(one, found[one.name]) for one in task.fields if found[one.name]}


def choices_of(task: AnnotationTask, unit: ShownUnit) -> Mapping[str, tuple[str, ...]]:
    """The choices of each field: the unit's own, else the task's."""
    return {one.name: unit.choices.get(one.name, one.choices) for one in task.fields}


def _entries(one: Field, given: list[str], choices: tuple[str, ...]) -> tuple[str, ...]:
    if one.kind in LISTED:
        lines = (line.strip() for text in given for line in text.split("\n"))
        return tuple(dict.fromkeys(line for line in lines if line))
    if one.kind in ("choice", "choices"):
        shown = {printable(choice): choice for choice in choices}
        return tuple(dict.fromkeys(shown.get(text, text) for text in given if text.strip()))
    return tuple(text for text in given if text.strip())


def _sentence(one: Field, wrong: list[str]) -> str:
    if wrong == ["empty"]:
        return "Please choose." if one.kind.startswith("choice") else "Please fill this in."
    text = "; ".join(wrong)
    return f"{text[:1].upper()}{text[1:]}."
