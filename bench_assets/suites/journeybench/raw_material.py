"""Raw material of the built route, its votes, and the decisions by votes (sections 3.1 to 3.3).

An item with too few votes is open: neither kept nor dropped.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

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
    """How long a vote or text took, when and with which tool it was made, if recorded."""

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


class _RawFile(NamedTuple):
    name: str
    id_fields: tuple[str, ...]  # that identify a row


_FILES: dict[type[Any], _RawFile] = {
    GalleryImage: _RawFile("gallery.jsonl", ("image",)),
    FilterVote: _RawFile("filter_votes.jsonl", ("image", "annotator")),
    ImageCategories: _RawFile("categories.jsonl", ("image",)),
    WrittenCaption: _RawFile("captions.jsonl", ("image", "writer")),
    CaptionVote: _RawFile("caption_votes.jsonl", ("image", "writer", "verifier")),
    StatementVote: _RawFile("statement_votes.jsonl", ("image", "statement", "annotator")),
    LookAlikeVote: _RawFile("look_alike_votes.jsonl", ("image", "candidate", "annotator")),
    TriggerVote: _RawFile("trigger_votes.jsonl", ("image", "question", "annotator")),
}
"""File of each row type."""


def read_raw_rows(folder: Path, row_type: type[Row]) -> Table[Row]:
    """Read all rows of one type, in file order; none if there is no such file.

    Of several votes or texts of a person on one unit, only the last is kept. Other entries that
    repeat an earlier one, such as categories of the same image, are rejected.

    Raises:
        SourceError: If the file cannot be read; names file and line.
    """
    table = _read_rows(folder, row_type)
    is_note = issubclass(row_type, _SourceNote)
    return replace(table, rows=last_entries(table.rows)) if is_note else table


def unused_rows(folder: Path) -> list[Rejection]:
    """List the rejections of the raw material: invalid or repeated entries, unused notes."""
    gallery = {row.image for row in _read_rows(folder, GalleryImage).rows}
    rejections = list[Rejection]()
    for row_type in _FILES:
        table = _read_rows(folder, row_type)
        rejections += table.rejections
        if issubclass(row_type, _SourceNote):
            rejections += _reject_unused_notes(table.rows, gallery)
    return rejections


def _reject_unused_notes(notes: Sequence[Any], gallery: Collection[str]) -> Iterator[Rejection]:
    """Yield the rejections of votes and texts on unknown images, and of those given again later."""
    used_ids = {id(note) for note in last_entries(notes)}
    for note in notes:
        entry = ", ".join([_FILES[type(note)].name, *_identity(note)])
        if note.image not in gallery:
            yield Rejection(entry=entry, reason=f"unknown image {note.image!r}")
        elif id(note) not in used_ids:
            yield Rejection(entry=entry, reason="given again; the last counts")


def _read_rows(folder: Path, row_type: type[Row]) -> Table[Row]:
    file = _FILES[row_type]
    is_note = issubclass(row_type, _SourceNote)  # of repeated notes, the last one counts
    lines = read_optional_lines(folder / file.name)
    return records(lines, row_type, unique=() if is_note else file.id_fields)


def last_entries(rows: Iterable[Row]) -> list[Row]:
    """Keep each person's last vote or text on a unit."""
    return keep_latest(rows, _identity)


def _identity(row: object) -> tuple[str, ...]:
    return tuple(getattr(row, name) for name in _FILES[type(row)].id_fields)


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
    """Lower the case, make blanks single, and strip final full stops and exclamation marks."""
    return " ".join(text.casefold().split()).rstrip(" .!")


def vote_fault(votes: Sequence[bool], least_votes: int, phrase: str, surplus: str = "") -> str:
    """Why a unit is not accepted: too few votes, no majority, or ``surplus``; "" if it is.

    Args:
        votes: Whether each vote accepts the unit.
        least_votes: Number of votes that a decision needs.
        phrase: What the accepting votes do.
        surplus: Why the unit is not needed, whether votes are missing or accept it.

    >>> vote_fault([True, False], 2, "accept it"), vote_fault([True], 2, "accept it")
    ('1 of 2 accept it', '1 of 2 needed votes')
    """
    if len(votes) < least_votes:
        missing = f"{len(votes)} of {least_votes} needed votes" if votes else "not verified"
        return surplus or missing
    return surplus if 2 * sum(votes) > len(votes) else f"{sum(votes)} of {len(votes)} {phrase}"


def _open_units(id_parts: Callable[[Any], Sequence[str]], rows: Iterable[Any]) -> dict[str, str]:
    """Map the ids of units with missing votes, made of ``id_parts``, to their reasons."""
    return {unit_id(*id_parts(row)): row.reason for row in rows if row.open}


def _open_questions(rejections: Iterable[Rejection]) -> dict[str, str]:
    """Map the trigger questions with missing votes to their reasons."""
    return {
        rejection.entry: rejection.reason
        for rejection in rejections
        if rejection.reason.startswith(OPEN)
    }


TASKS = read_tasks(Path(__file__).with_name("annotation.toml"))


IMAGES = DecisionTable(
    name="journeybench/decisions",
    row=FilterDecision,
    task=TASKS["filter"].name,
    votes=SourceTable("journeybench/filter_votes", FilterVote),
    open_rows=partial(_open_units, lambda row: (row.image,)),
)
CAPTIONS = DecisionTable(
    name="journeybench/caption_decisions",
    row=CaptionDecision,
    task=TASKS["caption_votes"].name,
    votes=SourceTable("journeybench/caption_votes", CaptionVote),
    open_rows=partial(_open_units, lambda row: (row.image, row.writer)),
)
STATEMENTS = DecisionTable(
    name="journeybench/statement_decisions",
    row=StatementDecision,
    task=TASKS["statements"].name,
    votes=SourceTable("journeybench/statement_votes", StatementVote),
    open_rows=partial(_open_units, lambda row: (row.image, normalize_text(row.text))),
)
LOOK_ALIKES = DecisionTable(
    name="journeybench/look_alikes",
    row=LookAlikeDecision,
    task=TASKS["look_alikes"].name,
    votes=SourceTable("journeybench/look_alike_votes", LookAlikeVote),
    open_rows=partial(_open_units, lambda row: (row.image, row.candidate)),
)
TRIGGERS = DecisionTable(
    name="journeybench/rejections",
    row=Rejection,
    task=TASKS["triggers"].name,
    votes=SourceTable("journeybench/trigger_votes", TriggerVote),
    open_rows=_open_questions,
)
