"""What became of pictures, captions, statements and look-alikes when people had voted, and why.

An item with too few votes is open: neither kept nor dropped.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bench_assets.core.rows import Rejection

OPEN = "open: "
"""What the reason of a rejection begins with that is none yet: votes are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterDecision:
    """What became of a picture of the gallery, and why."""

    picture: str
    kept: bool
    reason: str
    n_votes: int
    n_unusual: int
    n_fictional: int
    n_comprehensible: int
    duplicate_of: str = ""  # an earlier picture that looks the same
    open: bool = False  # too few votes: neither kept nor dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionDecision:
    """What became of a caption, and why."""

    picture: str
    writer: str
    caption: str
    kept: bool
    reason: str
    n_votes: int
    n_accepting: int
    open: bool = False  # too few votes: neither kept nor dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementDecision:
    """What became of a statement, and why."""

    statement_id: str
    picture: str
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
    """What became of a proposed picture, and why."""

    picture: str
    candidate: str
    criteria: tuple[str, ...]  # by which it was proposed
    similarity: float  # the greatest of them
    accepted: bool
    reason: str
    n_votes: int
    n_confirming: int  # who say that it is alike and conflicts with the captions
    open: bool = False  # too few votes: neither accepted nor dropped


def open_pictures(decisions: Iterable[FilterDecision]) -> list[str]:
    """Say which pictures wait for votes."""
    return [f"{one.picture}: {one.reason}" for one in decisions if one.open]


def open_captions(decisions: Iterable[CaptionDecision]) -> list[str]:
    """Say which captions wait for votes."""
    return [f"{one.picture}, {one.writer}: {one.reason}" for one in decisions if one.open]


def open_statements(decisions: Iterable[StatementDecision]) -> list[str]:
    """Say which statements wait for votes."""
    return [f"{one.statement_id}: {one.reason}" for one in decisions if one.open]


def open_look_alikes(decisions: Iterable[LookAlikeDecision]) -> list[str]:
    """Say which proposals wait for votes."""
    return [f"{one.candidate} for {one.picture}: {one.reason}" for one in decisions if one.open]


def open_questions(rejections: Iterable[Rejection]) -> list[str]:
    """Say which questions wait for votes."""
    return [f"{one.entry}: {one.reason}" for one in rejections if one.reason.startswith(OPEN)]
