"""Annotation tasks, their fields, units and answers, and the port to annotation backends.

Times of answers are texts in UTC that sort chronologically.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeAlias, get_args, get_type_hints

from bench_assets.core.schema.errors import BenchError

FieldKind: TypeAlias = Literal["choice", "choices", "text", "texts", "points", "boxes", "image"]
"""``choice``: one of several; ``choices``: some of them; ``text``; ``texts``: several short texts;
``points``: points on the unit's first image, each ``"x y"`` in shares of width and height, from
the top left; ``boxes``: boxes on it, each ``"left top right bottom"`` in the same shares;
``image``: an uploaded image, by the SHA-256 of its bytes in the store."""

MARK_KINDS = ("points", "boxes")
"""Field kinds whose entries are marks on the unit's first image."""

Values: TypeAlias = Mapping[str, tuple[str, ...]]
"""Entries by field name; a field that was left empty is absent."""


PEOPLE = "people"
"""Name of the judge whose verdicts are given by people: ``--judge people``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of an annotation task."""

    name: str  # letters, digits and _: also the name of a column or section made from it
    kind: FieldKind
    label: str  # shown to the annotator
    choices: tuple[str, ...] = ()  # in the order shown; a unit may have its own; names of marks
    required: bool = True
    least: int = 1  # entries of a list, marks or choices, unless the field is left empty
    most: int = 2000  # characters of a text; entries of a list, marks or choices


def yes_or_no(name: str, label: str) -> Field:
    """A yes-or-no field."""
    return Field(name=name, kind="choice", label=label, choices=("yes", "no"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationTask:
    """An annotation task: title, instructions and fields."""

    name: str  # suite and task: "codis/votes"
    title: str
    instructions: str  # shown before the first unit: the paper's rules
    fields: tuple[Field, ...]
    about: str = ""  # place in the paper

    @property
    def version(self) -> str:
        """Digest of everything that annotators see; an answer belongs to one version."""
        return _version(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit of annotation: what annotators see and answer once."""

    task: str
    unit_id: str
    shown: Mapping[str, str] = field(default_factory=dict)  # texts by their headings, in order
    images: Mapping[str, str] = field(default_factory=dict)  # SHA-256 by heading, in order
    choices: Values = field(default_factory=dict)  # by field, where a unit has its own choices
    needed: int = 1  # number of people who answer it
    barred: tuple[str, ...] = ()  # people who may not answer, such as its author
    gold: Values = field(default_factory=dict)  # right answer of an attention check; never shown

    @property
    def digest(self) -> str:
        """Digest of a unit as shown; an answer belongs to exactly this version.

        Independent of the order of fields, which tables do not keep.
        """
        content = [sorted(mapping.items()) for mapping in (self.shown, self.images, self.choices)]
        return _digest(content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One person's answer to one unit."""

    task: str
    task_version: str
    unit_id: str
    unit_digest: str  # of the content; "" if unknown, as in files written by hand
    person: str  # a pseudonym
    values: Values
    at: str  # when it was first given: ISO 8601, UTC
    changed_at: str  # when it was last changed; equal to ``at`` if never
    changed_by: str = ""  # who last changed it, if not the person
    seconds: float | None = None  # s from display to submission; None if not measured
    skipped: bool = False  # skipped by the person; does not count
    tool: str = ""  # "pages", "files"
    tool_id: str = ""  # id within the tool
    complaint: str = ""  # why it does not count; "" if it does


def field_value(answer: Answer, field: str) -> str:
    """Value of a field with one entry, stripped; "" if empty."""
    return answer.values.get(field, ("",))[0].strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationTerms:
    """Terms of a task's annotation: its section of bench.toml."""

    needed: int | None = None  # answers per unit; None: the suite's number
    until: str = ""  # deadline, see ``format_timestamp``; later answers do not count; "": none
    most_answers: int | None = None  # per person; the first ones count
    least_gold: float = 0.0  # share of attention checks that a person must get right
    least_decided: float = 0.5  # share of units that must be decided at the deadline


NO_TERMS = AnnotationTerms()
"""Terms of a task without a section."""


@lru_cache(maxsize=256)  # computed for every answer
def _version(task: AnnotationTask) -> str:
    return _digest(asdict(task) | {"about": ""})


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class SourceTable(NamedTuple):
    """A table of the suite that units are built from."""

    key: str  # asset key: "codis/submissions"
    row: type[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteAnnotationTask:
    """An annotation task of a suite, independent of its backend."""

    task: AnnotationTask
    reads: Mapping[str, SourceTable]  # by argument name of ``units``
    units: Callable[..., list[Unit]]  # units from the present tables
    row: type[Any]  # row type of ``to_rows``
    to_rows: Callable[[Sequence[Answer]], list[Any]]  # from the answers that count
    is_drawn: bool = False  # whether ``units`` takes the units drawn by bench annotate verdicts

    @property
    def suite(self) -> str:
        """The suite it belongs to."""
        return self.task.name.split("/")[0]

    def table(self, name: str) -> str:
        """Key of one of its tables, such as "codis/annotation/votes_answers"."""
        return annotation_table(self.task.name, name)


def suite_task(
    task: AnnotationTask,
    units: Callable[..., list[Unit]],
    to_rows: Callable[[Sequence[Answer]], list[Any]],
    row: type[Any] | None = None,
    **tables: str,
) -> SuiteAnnotationTask:
    """Build a suite's annotation task from two functions, whose annotations name tables and rows.

    Args:
        task: The task.
        units: Builds the units; each parameter is a table of the suite, a ``Sequence`` of rows.
        to_rows: Converts the answers that count; returns a list of rows.
        row: Type of these rows, if the annotation of ``to_rows`` does not state it.
        tables: Names of tables, by parameter of ``units``, where the two differ.
    """
    suite, hints = task.name.partition("/")[0], get_type_hints(units)
    del hints["return"]
    reads = {
        parameter: SourceTable(f"{suite}/{tables.get(parameter, parameter)}", *get_args(hint))
        for parameter, hint in hints.items()
    }
    if row is None:
        (row,) = get_args(get_type_hints(to_rows)["return"])
    return SuiteAnnotationTask(task=task, reads=reads, units=units, row=row, to_rows=to_rows)


class DecisionTable(NamedTuple):
    """A table of people's decisions about the inputs of questions."""

    name: str  # asset key: "codis/decisions"
    row: type[Any]
    task: str  # annotation task whose answers decide: "codis/votes"
    votes: SourceTable  # its votes, from files and answers
    open_rows: Callable[[Sequence[Any]], Mapping[str, str]]
    """Maps rows of the table to the undecided units among them, each with its reason."""


class UndecidedUnits(NamedTuple):
    """Units that are neither kept nor dropped, each with its reason."""

    open: Mapping[str, str]  # may still be answered
    expired: Mapping[str, str]  # the deadline has passed

    def shortage(self, n_units: int, terms: AnnotationTerms) -> str:
        """Error message if too few units were decided by the deadline; "" if enough were."""
        n_decided = n_units - len(self.expired)
        if not self.expired or n_decided >= terms.least_decided * n_units:
            return ""
        return (
            f"{n_decided} of {n_units} units were decided by the deadline, {terms.until}"
            f" (expected at least {terms.least_decided:.0%}). Extend until, or lower needed or"
            " least_decided"
        )


def annotation_table(task: str, table: str) -> str:
    """Key of a table of an annotation task.

    >>> annotation_table("codis/votes", "answers")
    'codis/annotation/votes_answers'
    """
    suite, _, name = task.partition("/")
    return f"{suite}/annotation/{name.replace('/', '_')}_{table}"


def unit_id(*parts: str) -> str:
    """Join several ids into one, which ``split_unit_id`` splits again.

    >>> unit_id("cats/01.png", "writer 1")
    'cats%2F01.png/writer 1'
    """
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


def split_unit_id(name: str) -> tuple[str, ...]:
    """Split an id that ``unit_id`` joined.

    >>> split_unit_id("cats%2F01.png/writer 1")
    ('cats/01.png', 'writer 1')
    """
    return tuple(part.replace("%2F", "/").replace("%25", "%") for part in name.split("/"))


def format_timestamp(when: datetime) -> str:
    """Format a time in UTC; a time without a zone is taken as UTC.

    >>> format_timestamp(datetime(2026, 11, 22, 16, 5, 9, 120000))
    '2026-11-22T16:05:09.120Z'
    """
    zoned = when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    return f"{zoned:%Y-%m-%dT%H:%M:%S}.{zoned.microsecond // 1000:03}Z"


def parse_timestamp(text: str) -> str:
    """Parse a time in ISO 8601, and format it as ``format_timestamp`` does.

    Raises:
        ValueError: If it is not a time.

    >>> parse_timestamp("2026-11-22T17:05:09+01:00")
    '2026-11-22T16:05:09.000Z'
    """
    return format_timestamp(datetime.fromisoformat(text))


def deadline_end(deadline: date) -> str:
    """Format the end of a deadline; for a date, its last millisecond in UTC.

    >>> deadline_end(date(2026, 12, 24))
    '2026-12-24T23:59:59.999Z'
    """
    if isinstance(deadline, datetime):
        return format_timestamp(deadline)
    return format_timestamp(datetime.combine(deadline, time(23, 59, 59, 999000), UTC))


class AnnotationError(BenchError):
    """The annotation backend is unavailable: it is down, refuses the token, or is damaged."""


class OpenVerdictsError(BenchError):
    """Responses wait for verdicts by people; the message says how to give them."""


class UnitCounts(NamedTuple):
    """Number of units of each kind after publishing."""

    new: int  # not published before
    there: int  # published before, unchanged
    changed: int  # published before with other content: asked again, old answers kept
    withdrawn: int  # no longer published

    @classmethod
    def of(cls, before: Mapping[str, str], after: Mapping[str, str]) -> Self:
        """Compare published units, each by its id with its digest."""
        in_both = before.keys() & after.keys()
        n_unchanged = sum(before[unit_id] == after[unit_id] for unit_id in in_both)
        return cls(
            new=len(after.keys() - before.keys()),
            there=n_unchanged,
            changed=len(in_both) - n_unchanged,
            withdrawn=len(before.keys() - after.keys()),
        )


def index_units(task: AnnotationTask, units: Sequence[Unit]) -> dict[str, Unit]:
    """Map ids to units.

    Raises:
        AnnotationError: If two have the same id.
    """
    units_by_id = {unit.unit_id: unit for unit in units}
    if len(units_by_id) < len(units):
        duplicate, _ = Counter(unit.unit_id for unit in units).most_common(1)[0]
        raise AnnotationError(f"{task.name}: duplicate unit id {duplicate!r}")
    return units_by_id


def new_answers(known: Iterable[Answer], answers: Iterable[Answer]) -> list[Answer]:
    """Select the answers that are not known yet; equal content of two tools is one answer."""
    known_contents = set(map(_content_key, known))
    by_content = {_content_key(answer): answer for answer in answers}
    return [answer for content, answer in by_content.items() if content not in known_contents]


def _content_key(answer: Answer) -> Hashable:
    values = tuple(sorted(answer.values.items()))
    identity = (answer.unit_id, answer.unit_digest, answer.person)
    return (*identity, answer.at, answer.changed_at, answer.skipped, values)


class AnnotationBackend(Protocol):
    """Port to an annotation backend: files or our own pages.

    Every method raises ``AnnotationError`` if the backend cannot be used; repeating the call
    completes what it left unfinished.
    """

    def ask(self, task: AnnotationTask, units: Sequence[Unit]) -> UnitCounts:
        """Publish the units of a task in place of earlier ones; idempotent.

        Answers to changed or withdrawn units are kept. The number of needed answers and the barred
        people may change without publishing a new version of a unit.

        Raises:
            AnnotationError: If two units have the same id.
        """
        ...

    def answers(self, task: AnnotationTask) -> list[Answer]:
        """Read all answers to any version of the task's units.

        Includes earlier answers of a person if the tool keeps them; ``latest_answers`` selects the
        last one. Sorted by unit, digest, person and time. Malformed entries have a complaint.
        """
        ...

    def add(self, task: AnnotationTask, answers: Sequence[Answer]) -> int:
        """Add answers to published units that another tool collected; all of them, or none.

        Returns:
            Number of answers that were not there before.
        """
        ...

    def close(self, task: AnnotationTask) -> None:
        """Close a task; its answers stay. Publishing it again reopens it."""
        ...
