"""The raw material of the built route: JSON lines that people and galleries left in the source.

An image is named by its file name in ``images/``. A file that is not there holds no entries.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bench_assets.annotation.answers.resolution import last_said
from bench_assets.core.tables.json_records import read_lines, records

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryImage:
    """A generated image that a gallery shows (section 3.1)."""

    image: str
    query: str  # what it was found with
    prompt: str  # what it was generated from


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourceNote:
    """How something was said, where somebody noted it."""

    seconds: float | None = None  # s that it took
    at: str = ""  # ISO 8601
    tool: str = ""  # in what it was said; "": a file of the source


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterVote(_SourceNote):
    """What an annotator says of an image (section 3.1)."""

    image: str
    annotator: str
    unusual: bool
    fictional: bool
    comprehensible: bool


CRITERIA = ("unusual", "fictional", "comprehensible")
"""What annotators say yes or no to of an image."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCategories:
    """In which ways an image is imaginary; the second is empty for most."""

    image: str
    category1: str
    category2: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCaption(_SourceNote):
    """What an annotator writes about the most unusual part of an image (section 3.2)."""

    image: str
    writer: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionVote(_SourceNote):
    """What an experienced annotator says of a caption (section 3.2)."""

    image: str
    writer: str
    verifier: str
    accepts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementVote(_SourceNote):
    """Whether a statement conflicts with an image (section 3.3), by its words."""

    image: str
    statement: str
    annotator: str
    conflicts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAlikeVote(_SourceNote):
    """Whether an image is like another one and yet not what the captions say (section 3.3)."""

    image: str
    candidate: str
    annotator: str
    alike: bool
    conflicts: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerVote(_SourceNote):
    """Whether a question does what its trigger says, and its answers are right."""

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
"""Where each kind of entry stands, and the fields that tell entries apart."""


def read_raw(folder: Path, row_type: type[Row]) -> list[Row]:
    """Read all entries of one kind, in file order; none if there is no such file.

    Of what people said, each one's last word on the same thing.

    Raises:
        SourceError: If the file cannot be read, an entry lacks a field, or two entries that nobody
            said are about the same, such as two of one image; names file and line.
    """
    name, unique = _FILES[row_type]
    file = folder / name
    if not file.exists():
        return []
    said = issubclass(row_type, _SourceNote)
    rows = records(read_lines(file), row_type, unique=() if said else unique)
    return last_words(rows) if said else rows


def last_words(rows: Iterable[Row]) -> list[Row]:
    """Keep what each person said last of the same thing."""
    return last_said(rows, lambda row: tuple(getattr(row, name) for name in _FILES[type(row)][1]))
