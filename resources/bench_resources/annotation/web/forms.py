"""Form fields of a unit: display on the page, and parsing and validation of submitted forms."""

import re
from asyncio import timeout
from collections import defaultdict
from collections.abc import Mapping
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
        texts = self.texts.get(name)
        return texts[0] if texts else ""


async def read_form(request: Request) -> SubmittedForm:
    """Read a form from the body of a request.

    Raises:
        HTTPException: If it is malformed or exceeds a limit.
        RefusedError: If it does not arrive completely in time.
    """
    form = SubmittedForm()
    try:
        async with (
            timeout(_TIMEOUT),
            request.form(
                max_files=_MOST_FIELDS, max_fields=_MOST_FIELDS, max_part_size=MOST_TEXT
            ) as submitted,
        ):
            for name, value in submitted.multi_items():
                if isinstance(value, str):
                    form.texts[name].append(value.replace("\r\n", "\n").replace("\r", "\n"))
                elif data := await value.read():
                    form.files[name] = data
    except (TimeoutError, ClientDisconnect) as error:
        raise RefusedError(408, "This took too long to arrive: please send it again.") from error
    return form


def submitted_values(task: AnnotationTask, unit: ShownUnit, form: SubmittedForm) -> Values:
    """Parse the values of a task's fields from a form, without empty ones."""
    choices = _field_choices(task, unit)
    values = {
        field.name: _parse_texts(field, form.texts.get(field.name, []), choices[field.name])
        for field in task.fields
    }
    return {name: texts for name, texts in values.items() if texts}


def error_messages(task: AnnotationTask, unit: ShownUnit, values: Values) -> dict[str, str]:
    """Messages about invalid values, by field."""
    choices = _field_choices(task, unit)
    messages = {}
    for form_field in task.fields:
        texts = values.get(form_field.name, ())
        errors = list(field_errors(form_field, texts, choices[form_field.name]))
        if errors:
            messages[form_field.name] = _error_message(form_field, errors)
    return messages


def _field_choices(task: AnnotationTask, unit: ShownUnit) -> Mapping[str, tuple[str, ...]]:
    """The choices of each field: the unit's own, else the task's."""
    return {field.name: unit.choices.get(field.name, field.choices) for field in task.fields}


def _parse_texts(field: Field, texts: list[str], choices: tuple[str, ...]) -> tuple[str, ...]:
    """Parse the submitted texts of a field; repeated lines and choices are dropped."""
    if field.kind in LIST_KINDS:
        lines = (line.strip() for text in texts for line in text.split("\n"))
        return tuple(dict.fromkeys(line for line in lines if line))
    if field.kind in ("choice", "choices"):
        by_shown_text = {escape_controls(choice): choice for choice in choices}
        return tuple(dict.fromkeys(by_shown_text.get(text, text) for text in texts if text.strip()))
    return tuple(text for text in texts if text.strip())


def _error_message(field: Field, errors: list[str]) -> str:
    if errors == ["empty"]:
        return "Please choose." if field.kind.startswith("choice") else "Please fill this in."
    text = "; ".join(errors)
    return f"{text[:1].upper()}{text[1:]}."


_NUMBERED_HEADING = re.compile(
    r"^(.*?)\s*\b(?:[A-H]|[1-9]|left|right|first|second|one|other)\b\s*$", re.IGNORECASE
)
_LONG = 1200  # characters; a longer text has its own scroll bar
_LONG_LINES = 25  # line breaks; a text with more has one too
_ONE_LINE = 120  # characters; a field for longer texts has several lines
_LIMIT_SHOWN = 2000  # characters; a hint leaves higher limits out
_UNLIMITED = 1000  # values; a hint leaves higher limits out


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """A text with its heading."""

    heading: str
    text: str

    @property
    def is_long(self) -> bool:
        """Whether it has its own scroll bar."""
        return len(self.text) > _LONG or self.text.count("\n") > _LONG_LINES


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownField:
    """A form field on the page."""

    name: str
    kind: str
    label: str
    required: bool
    hint: str
    choices: tuple[str, ...]
    given: tuple[str, ...]  # all entries
    typed: str  # in a text field
    is_one_line: bool
    complaint: str
    most: int

    @property
    def is_mark(self) -> bool:
        """Whether its entries are marks on the first image."""
        return self.kind in MARK_KINDS

    @property
    def format(self) -> str:
        """Help text on the format of marks as text."""
        shares = "as shares between 0 and 1 of the width and the height of the image"
        if self.kind == "points":
            return f"One on each line: distance from the left and from the top, {shares}: 0.25 0.5"
        return f"One on each line: left, top, right, bottom, {shares}: 0.25 0.5 0.6 0.9"


def text_groups(shown: Mapping[str, str]) -> list[list[ShownText]]:
    """Group texts for display: texts to compare, such as "Response A" and "B", are side by side.

    >>> groups = text_groups({"Question": "", "Answer 1": "", "Answer 2": ""})
    >>> [[text.heading for text in group] for group in groups]
    [['Question'], ['Answer 1', 'Answer 2']]
    """
    groups: list[list[ShownText]] = []
    previous_stem = None
    for heading, text in shown.items():
        match = _NUMBERED_HEADING.match(heading)
        stem = match[1] if match else None
        if stem is None or stem != previous_stem:
            groups.append([])
        groups[-1].append(ShownText(heading=heading, text=text))
        previous_stem = stem
    return groups


def shown_fields(
    task: AnnotationTask, unit: ShownUnit, values: Values, errors: Mapping[str, str]
) -> list[ShownField]:
    """Form fields of a task, with their values and error messages."""
    choices = _field_choices(task, unit)
    fields = []
    for form_field in task.fields:
        texts = values.get(form_field.name, ())
        lines = texts if form_field.kind in LIST_KINDS else texts[:1]
        shown_field = ShownField(
            name=form_field.name,
            kind=form_field.kind,
            label=form_field.label,
            required=form_field.required,
            hint=hint(form_field),
            choices=choices[form_field.name],
            given=texts,
            typed="\n".join(lines),
            is_one_line=form_field.kind == "text" and form_field.most <= _ONE_LINE,
            complaint=errors.get(form_field.name, ""),
            most=form_field.most,
        )
        fields.append(shown_field)
    return fields


def hint(field: Field) -> str:
    """Help text on the entries that a field takes; "" if none is needed.

    >>> hint(Field(name="a", kind="texts", label="", least=2, most=5))
    'One on each line, 2 to 5 of them.'
    """
    if field.kind == "text":
        return f"At most {field.most} characters." if field.most < _LIMIT_SHOWN else ""
    if field.kind not in (*LIST_KINDS, "choices"):
        return ""
    count = _count_text(field.least, field.most)
    if field.kind == "texts":
        return f"One on each line, {count} of them." if count else "One on each line."
    if field.kind in MARK_KINDS:
        action = "Click on the image" if field.kind == "points" else "Drag on the image"
        count = f": {count}" if count else ""
        order = f", in this order: {'; '.join(field.choices)}" if field.choices else ""
        return f"{action}{count}{order}."
    return f"Choose {count}." if count else "Choose all that fit."


def is_wide(unit: ShownUnit) -> bool:
    """Whether the unit needs the full width: texts to compare, several images, or no content."""
    is_comparison = any(len(group) > 1 for group in text_groups(unit.shown))
    is_empty = not unit.shown and not unit.images
    return is_comparison or is_empty or len(unit.images) > 1


def _count_text(least: int, most: int) -> str:
    """Number of values to give, such as "2 to 5"; "" for any number."""
    if most >= _UNLIMITED:
        return f"at least {least}" if least > 1 else ""
    return str(least) if least == most else f"{least} to {most}"
