"""Raw material of the built route, its votes, and the decisions by votes (sections 3.1 to 3.3).

An item with too few votes is open: neither kept nor dropped.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from bench_assets.annotation.answers.validation import keep_latest
from bench_assets.annotation.task_files import read_tasks
from bench_assets.annotation.tasks import DecisionTable, SourceTable, unit_id
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import records
from bench_assets.suites.journeybench.published_files import read_optional_lines

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryImage:
    """A generated image that a gallery shows (section 3.1)."""

    image: str
    query: str  # query that found it
    prompt: str  # prompt that it was generated from


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourceNote:
    """How a vote or text was given, if it was recorded."""

    seconds: float | None = None  # s that it took
    at: str = ""  # ISO 8601
    tool: str = ""  # annotation tool; "": a file of the source


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterVote(_SourceNote):
    """An annotator's vote on an image (section 3.1)."""

    image: str
    annotator: str
    unusual: bool
    fictional: bool
    comprehensible: bool


CRITERIA = ("unusual", "fictional", "comprehensible")
"""Criteria of the image filter, each with a yes or no of every annotator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCategories:
    """Categories of what is unusual in an image; the second is empty for most."""

    image: str
    category1: str
    category2: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCaption(_SourceNote):
    """An annotator's caption of the most unusual part of an image (section 3.2)."""

    image: str
    writer: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionVote(_SourceNote):
    """An experienced annotator's vote on a caption (section 3.2)."""

    image: str
    writer: str
    verifier: str
    accepts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementVote(_SourceNote):
    """A vote whether a statement, known by its words, conflicts with an image (section 3.3)."""

    image: str
    statement: str
    annotator: str
    conflicts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAlikeVote(_SourceNote):
    """A vote whether an image resembles another without matching its captions (section 3.3)."""

    image: str
    candidate: str
    annotator: str
    alike: bool
    conflicts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerVote(_SourceNote):
    """A vote whether a question fits its trigger, with right answers."""

    image: str
    question: str
    annotator: str
    accepts: bool


_FILES: dict[type[Any], tuple[str, tuple[str, ...]]] = {
    GalleryImage: ("gallery.jsonl", ("image",)),
    FilterVote: ("filter_votes.jsonl", ("image", "annotator")),
    ImageCategories: ("categories.jsonl", ("image",)),
    WrittenCaption: ("captions.jsonl", ("image", "writer")),
    CaptionVote: ("caption_votes.jsonl", ("image", "writer", "verifier")),
    StatementVote: ("statement_votes.jsonl", ("image", "statement", "annotator")),
    LookAlikeVote: ("look_alike_votes.jsonl", ("image", "candidate", "annotator")),
    TriggerVote: ("trigger_votes.jsonl", ("image", "question", "annotator")),
}
"""File of each row type, and the fields that identify a row."""


def read_raw_rows(folder: Path, row_type: type[Row]) -> Table[Row]:
    """Read all rows of one type, in file order; none if there is no such file.

    Of several votes or texts of a person on one unit, only the last is kept. Of two other entries
    that should be unique, such as categories of one image, the later is rejected.

    Raises:
        SourceError: If the file cannot be read; names file and line.
    """
    table = _read_rows(folder, row_type)
    is_note = issubclass(row_type, _SourceNote)
    return replace(table, rows=last_entries(table.rows)) if is_note else table


def unused_rows(folder: Path) -> list[Rejection]:
    """Rejections of the raw material: unreadable entries, and notes that do not count."""
    gallery = {row.image for row in _read_rows(folder, GalleryImage).rows}
    rejections = list[Rejection]()
    for row_type, (name, identity) in _FILES.items():
        table = _read_rows(folder, row_type)
        rejections += table.rejections
        notes = table.rows if issubclass(row_type, _SourceNote) else []
        counted = {id(row) for row in last_entries(notes)}
        for row in notes:
            entry = ", ".join([name, *(getattr(row, part) for part in identity)])
            if row.image not in gallery:
                rejections.append(Rejection(entry=entry, reason=f"unknown image {row.image!r}"))
            elif id(row) not in counted:
                rejections.append(Rejection(entry=entry, reason="given again; the last counts"))
    return rejections


def _read_rows(folder: Path, row_type: type[Row]) -> Table[Row]:
    name, unique = _FILES[row_type]
    is_note = issubclass(row_type, _SourceNote)
    lines = read_optional_lines(folder / name)
    return records(lines, row_type, unique=() if is_note else unique)


def last_entries(rows: Iterable[Row]) -> list[Row]:
    """Keep each person's last vote or text on a unit."""
    return keep_latest(rows, lambda row: tuple(getattr(row, name) for name in _FILES[type(row)][1]))


OPEN = "open: "
"""Prefix of a rejection's reason if the unit is open: votes are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterDecision:
    """Decision on an image of the gallery, and its reason."""

    image: str
    kept: bool
    reason: str
    n_votes: int
    n_unusual: int
    n_fictional: int
    n_comprehensible: int
    duplicate_of: str = ""  # an earlier image that looks the same
    open: bool = False  # too few votes: neither kept nor dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionDecision:
    """Decision on a caption, and its reason."""

    image: str
    writer: str
    caption: str
    kept: bool
    reason: str
    n_votes: int
    n_accepting: int
    open: bool = False  # too few votes: neither kept nor dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementDecision:
    """Decision on a statement, and its reason."""

    statement_id: str
    image: str
    text: str
    way: str
    accepted: bool
    reason: str
    nearest_caption: str
    similarity: float  # cosine of the two texts
    n_votes: int
    n_conflicting: int
    open: bool = False  # too few votes: neither accepted nor dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAlikeDecision:
    """Decision on a proposed image, and its reason."""

    image: str
    candidate: str
    criteria: tuple[str, ...]  # by which it was proposed
    similarity: float  # the greatest of them
    accepted: bool
    reason: str
    n_votes: int
    n_confirming: int  # who say that it is alike and conflicts with the captions
    open: bool = False  # too few votes: neither accepted nor dropped


def normalize_text(text: str) -> str:
    """Normalise a text for comparison: case, blanks and final stops are ignored."""
    return " ".join(text.casefold().split()).rstrip(" .!")


def vote_fault(cast: Sequence[bool], least: int, say: str) -> str:
    """Why votes do not accept a unit: too few of them, or no majority; "" if they accept it.

    >>> vote_fault([True, False], 2, "accept it"), vote_fault([True], 2, "accept it")
    ('1 of 2 accept it', '1 votes, 2 are needed')
    """
    if len(cast) < least:
        return f"{len(cast)} votes, {least} are needed" if cast else "not verified"
    return "" if 2 * sum(cast) > len(cast) else f"{sum(cast)} of {len(cast)} {say}"


def _open_rows(parts: Callable[[Any], Sequence[str]], rows: Iterable[Any]) -> dict[str, str]:
    """The units with missing votes, each with its reason."""
    return {unit_id(*parts(row)): row.reason for row in rows if row.open}


def _open_questions(rejections: Iterable[Rejection]) -> dict[str, str]:
    return {
        rejection.entry: rejection.reason
        for rejection in rejections
        if rejection.reason.startswith(OPEN)
    }


TASKS = read_tasks(Path(__file__).with_name("annotation.toml")).tasks


def _decided(
    name: str,
    row: type[Any],
    task: str,
    votes: SourceTable,
    open_rows: Callable[[Sequence[Any]], Mapping[str, str]],
) -> DecisionTable:
    return DecisionTable(f"journeybench/{name}", row, TASKS[task].name, votes, open_rows)


IMAGES = _decided(
    "decisions",
    FilterDecision,
    "filter",
    SourceTable("journeybench/filter_votes", FilterVote),
    partial(_open_rows, lambda row: (row.image,)),
)
CAPTIONS = _decided(
    "caption_decisions",
    CaptionDecision,
    "caption_votes",
    SourceTable("journeybench/caption_votes", CaptionVote),
    partial(_open_rows, lambda row: (row.image, row.writer)),
)
STATEMENTS = _decided(
    "statement_decisions",
    StatementDecision,
    "statements",
    SourceTable("journeybench/statement_votes", StatementVote),
    partial(_open_rows, lambda row: (row.image, normalize_text(row.text))),
)
LOOK_ALIKES = _decided(
    "look_alikes",
    LookAlikeDecision,
    "look_alikes",
    SourceTable("journeybench/look_alike_votes", LookAlikeVote),
    partial(_open_rows, lambda row: (row.image, row.candidate)),
)
TRIGGERS = _decided(
    "rejections",
    Rejection,
    "triggers",
    SourceTable("journeybench/trigger_votes", TriggerVote),
    _open_questions,
)
