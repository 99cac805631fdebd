"""Form fields of a unit: display on the page, and parsing and validation of submitted forms."""

import re
from asyncio import timeout
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from starlette.requests import ClientDisconnect, Request

from bench_assets.annotation.answers.validation import field_errors
from bench_assets.annotation.tasks import MARK_KINDS, AnnotationTask, Field, Values
from bench_assets.core.text.escaping import escape_controls
from bench_resources.annotation.web.rendering import RefusedError
from bench_resources.annotation.web.store import ShownUnit

MOST_TEXT = 4 * 2**20  # bytes of one field

_TIMEOUT = 120  # s to receive a body
_MOST_FIELDS = 1000  # fields, and files, of a form

LIST_KINDS = ("texts", *MARK_KINDS)
"""Field kinds with one entry per line."""


@dataclass(slots=True)
class SubmittedForm:
    """The fields and files of a submitted form."""

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
    form = SubmittedForm()
    try:
        async with (
            timeout(_TIMEOUT),
            request.form(
                max_files=_MOST_FIELDS, max_fields=_MOST_FIELDS, max_part_size=MOST_TEXT
            ) as sent,
        ):
            for name, value in sent.multi_items():
                if isinstance(value, str):
                    form.texts[name].append(value.replace("\r\n", "\n").replace("\r", "\n"))
                elif data := await value.read():
                    form.files[name] = data
    except (TimeoutError, ClientDisconnect) as error:
        raise RefusedError(408, "This took too long to arrive: please send it again.") from error
    return form


def values_of(task: AnnotationTask, unit: ShownUnit, sent: SubmittedForm) -> Values:
    """Parse the values of a task's fields from a form, without empty ones."""
    values = {
        field.name: _entries(field, sent.texts.get(field.name, []), choices)
        for field, choices in zip(task.fields, choices_of(task, unit).values(), strict=True)
    }
    return {name: entries for name, entries in values.items() if entries}


def complaints(task: AnnotationTask, unit: ShownUnit, values: Values) -> dict[str, str]:
    """Errors in the values, by field."""
    choices = choices_of(task, unit)
    errors = {
        field.name: list(field_errors(field, values.get(field.name, ()), choices[field.name]))
        for field in task.fields
    }
    return {
        field.name: _error_message(field, errors[field.name])
        for field in task.fields
        if errors[field.name]
    }


def choices_of(task: AnnotationTask, unit: ShownUnit) -> Mapping[str, tuple[str, ...]]:
    """The choices of each field: the unit's own, else the task's."""
    return {field.name: unit.choices.get(field.name, field.choices) for field in task.fields}


def _entries(one: Field, texts: list[str], choices: tuple[str, ...]) -> tuple[str, ...]:
    if one.kind in LIST_KINDS:
        lines = (line.strip() for text in texts for line in text.split("\n"))
        return tuple(dict.fromkeys(line for line in lines if line))
    if one.kind in ("choice", "choices"):
        by_text = {escape_controls(choice): choice for choice in choices}
        return tuple(dict.fromkeys(by_text.get(text, text) for text in texts if text.strip()))
    return tuple(text for text in texts if text.strip())


def _error_message(one: Field, wrong: list[str]) -> str:
    if wrong == ["empty"]:
        return "Please choose." if one.kind.startswith("choice") else "Please fill this in."
    text = "; ".join(wrong)
    return f"{text[:1].upper()}{text[1:]}."


_NUMBERED_HEADING = re.compile(
    r"^(.*?)\s*\b(?:[A-H]|[1-9]|left|right|first|second|one|other)\b\s*$", re.IGNORECASE
)
_LONG = 1200  # characters; a longer text has its own scroll bar
_ONE_LINE = 120  # characters; a field for longer texts has several lines


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """A text with its heading."""

    heading: str
    text: str

    @property
    def is_long(self) -> bool:
        """Whether it has its own scroll bar."""
        return len(self.text) > _LONG or self.text.count("\n") > 25


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownField:
    """A form field on the page."""

    name: str
    kind: str
    label: str
    required: bool
    hint: str
    choices: tuple[str, ...]
    given: tuple[str, ...]
    typed: str
    is_one_line: bool
    complaint: str
    most: int

    @property
    def is_mark(self) -> bool:
        """Whether its entries are marks on the first image."""
        return self.kind in MARK_KINDS

    @property
    def format(self) -> str:
        """How marks are written as text."""
        shares = "as shares between 0 and 1 of the width and the height of the image"
        if self.kind == "points":
            return f"One on each line: distance from the left and from the top, {shares}: 0.25 0.5"
        return f"One on each line: left, top, right, bottom, {shares}: 0.25 0.5 0.6 0.9"


def text_groups(shown: Mapping[str, str]) -> list[list[ShownText]]:
    """Group texts for display: texts to compare, such as "Response A" and "B", are side by side.

    >>> [[one.heading for one in group] for group in text_groups({"Q": "", "X 1": "", "X 2": ""})]
    [['Q'], ['X 1', 'X 2']]
    """
    groups: list[list[ShownText]] = []
    before = None
    for heading, text in shown.items():
        match = _NUMBERED_HEADING.match(heading)
        stem = match[1] if match else None
        if stem is None or stem != before:
            groups.append([])
        groups[-1].append(ShownText(heading=heading, text=text))
        before = stem
    return groups


def fields_of(
    task: AnnotationTask, unit: ShownUnit, values: Values, complaints: Mapping[str, str]
) -> list[ShownField]:
    """Form fields of a task, with their values."""
    choices = choices_of(task, unit)
    return [
        ShownField(
            name=field.name,
            kind=field.kind,
            label=field.label,
            required=field.required,
            hint=hint(field),
            choices=choices[field.name],
            given=values.get(field.name, ()),
            typed="\n".join(values.get(field.name, ())[: None if field.kind in LIST_KINDS else 1]),
            is_one_line=field.kind == "text" and field.most <= _ONE_LINE,
            complaint=complaints.get(field.name, ""),
            most=field.most,
        )
        for field in task.fields
    ]


def hint(one: Field) -> str:
    """Help text of a field.

    >>> hint(Field(name="a", kind="texts", label="", least=2, most=5))
    'One on each line, 2 to 5 of them.'
    """
    if one.kind == "text":
        return f"At most {one.most} characters." if one.most < 2000 else ""
    if one.kind not in (*LIST_KINDS, "choices"):
        return ""
    n = _count(one.least, one.most)
    if one.kind == "texts":
        return f"One on each line{n and f', {n} of them'}."
    if one.kind in MARK_KINDS:
        how = "Click on the image" if one.kind == "points" else "Drag on the image"
        order = f", in this order: {'; '.join(one.choices)}" if one.choices else ""
        return f"{how}{n and f': {n}'}{order}."
    return f"Choose {n}." if n else "Choose all that fit."


def is_wide(unit: ShownUnit) -> bool:
    """Whether the unit needs the full width: texts to compare, several images, or no content."""
    compared = any(len(group) > 1 for group in text_groups(unit.shown))
    return compared or len(unit.images) > 1 or not (unit.shown or unit.images)


def has_upload_field(fields: Iterable[Field]) -> bool:
    """Whether the task has an upload field."""
    return any(field.kind == "image" for field in fields)


def _count(least: int, most: int) -> str:
    if most >= 1000:
        return f"at least {least}" if least > 1 else ""
    return str(least) if least == most else f"{least} to {most}"
