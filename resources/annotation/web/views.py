"""Template views of a unit."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bench_assets.annotation.tasks import AnnotationTask, Field, Values
from resources.annotation.web.form_data import LISTED, choices_of
from resources.annotation.web.store import ShownUnit

_PLACE = re.compile(
    r"^(.*?)\s*\b(?:[A-H]|[1-9]|left|right|first|second|one|other)\b\s*$", re.IGNORECASE
)
_LONG = 1200  # characters of a text that gets a scroll bar of its own
_ONE_LINE = 120  # characters that fit into one


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """A text with its heading."""

    heading: str
    text: str

    @property
    def is_long(self) -> bool:
        """Whether it scrolls by itself."""
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


def text_groups(shown: Mapping[str, str]) -> list[list[ShownText]]:
    """Group texts for display: those to compare, "Response A" and "Response B", side by side.

    >>> [[one.heading for one in group] for group in text_groups({"Q": "", "X 1": "", "X 2": ""})]
    [['Q'], ['X 1', 'X 2']]
    """
    groups: list[list[ShownText]] = []
    before = None
    for heading, text in shown.items():
        found = _PLACE.match(heading)
        stem = found[1] if found else None
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
            name=one.name,
            kind=one.kind,
            label=one.label,
            required=one.required,
            hint=hint(one),
            choices=choices[one.name],
            given=values.get(one.name, ()),
            typed="\n".join(values.get(one.name, ())[: None if one.kind in LISTED else 1]),
            is_one_line=one.kind == "text" and one.most <= _ONE_LINE,
            complaint=complaints.get(one.name, ""),
        )
        for one in task.fields
    ]


def hint(one: Field) -> str:
    """Help text of a field.

    >>> hint(Field(name="a", kind="texts", label="", least=2, most=5))
    'One on each line, 2 to 5 of them.'
    """
    if one.kind == "text":
        return f"At most {one.most} characters." if one.most < 2000 else ""
    if one.kind not in (*LISTED, "choices"):
        return ""
    n = _count(one.least, one.most)
    if one.kind == "texts":
        return f"One on each line{n and f', {n} of them'}."
    if one.kind == "points":
        return (
            f"Click on the image{n and f', {n} places'}; or write each place on a line of its"
            " own: how far from the left and from the top, between 0 and 1, as in 0.25 0.5."
        )
    return f"Choose {n}." if n else "Choose all that fit."


def is_wide(unit: ShownUnit) -> bool:
    """Whether the unit uses the whole width, for items side by side."""
    compared = any(len(group) > 1 for group in text_groups(unit.shown))
    return compared or len(unit.images) > 1 or not (unit.shown or unit.images)


def wants_images(fields: Iterable[Field]) -> bool:
    """Whether the task has an upload field."""
    return any(one.kind == "image" for one in fields)


def _count(least: int, most: int) -> str:
    if most >= 1000:
        return f"at least {least}" if least > 1 else ""
    return str(least) if least == most else f"{least} to {most}"
