"""Decisions by votes on images, captions, statements and look-alikes (sections 3.1 to 3.3).

An item with too few votes is open: neither kept nor dropped. The tables of votes and decisions are
those that a task names for its audit and its open units.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench_assets.annotation.answers.values import DecisionTable, VoteTable
from bench_assets.annotation.task_files import read_tasks
from bench_assets.core.schema.rows import Rejection, votes_in
from bench_assets.suites.journeybench.raw_material import (
    CRITERIA,
    CaptionVote,
    FilterVote,
    LookAlikeVote,
    StatementVote,
    TriggerVote,
)

OPEN = "open: "
"""What the reason of a rejection begins with that is none yet: votes are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterDecision:
    """What became of an image of the gallery, and why."""

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
    """What became of a caption, and why."""

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
    """What became of a statement, and why."""

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
    """What became of a proposed image, and why."""

    image: str
    candidate: str
    criteria: tuple[str, ...]  # by which it was proposed
    similarity: float  # the greatest of them
    accepted: bool
    reason: str
    n_votes: int
    n_confirming: int  # who say that it is alike and conflicts with the captions
    open: bool = False  # too few votes: neither accepted nor dropped


def open_images(decisions: Iterable[FilterDecision]) -> list[str]:
    """Say which images wait for votes."""
    return [f"{one.image}: {one.reason}" for one in decisions if one.open]


def open_captions(decisions: Iterable[CaptionDecision]) -> list[str]:
    """Say which captions wait for votes."""
    return [f"{one.image}, {one.writer}: {one.reason}" for one in decisions if one.open]


def open_statements(decisions: Iterable[StatementDecision]) -> list[str]:
    """Say which statements wait for votes."""
    return [f"{one.statement_id}: {one.reason}" for one in decisions if one.open]


def open_look_alikes(decisions: Iterable[LookAlikeDecision]) -> list[str]:
    """Say which proposals wait for votes."""
    return [f"{one.candidate} for {one.image}: {one.reason}" for one in decisions if one.open]


def open_questions(rejections: Iterable[Rejection]) -> list[str]:
    """Say which questions wait for votes."""
    return [f"{one.entry}: {one.reason}" for one in rejections if one.reason.startswith(OPEN)]


TASKS = read_tasks(Path(__file__).with_name("annotation.toml")).tasks

_by_annotator = partial(votes_in, person="annotator")

IMAGE_VOTES = VoteTable(
    "journeybench/filter_votes",
    FilterVote,
    partial(_by_annotator, unit=("image",), criteria=CRITERIA),
)
CAPTION_VOTES = VoteTable(
    "journeybench/caption_votes",
    CaptionVote,
    partial(votes_in, person="verifier", unit=("image", "writer"), criteria=("accepts",)),
)
STATEMENT_VOTES = VoteTable(
    "journeybench/statement_votes",
    StatementVote,
    partial(_by_annotator, unit=("image", "statement"), criteria=("conflicts",)),
)
LOOK_ALIKE_VOTES = VoteTable(
    "journeybench/look_alike_votes",
    LookAlikeVote,
    partial(_by_annotator, unit=("image", "candidate"), criteria=("alike", "conflicts")),
)
TRIGGER_VOTES = VoteTable(
    "journeybench/trigger_votes",
    TriggerVote,
    partial(_by_annotator, unit=("image", "question"), criteria=("accepts",)),
)

IMAGES = DecisionTable("journeybench/decisions", FilterDecision, TASKS["filter"].name, open_images)
CAPTIONS = DecisionTable(
    "journeybench/caption_decisions", CaptionDecision, TASKS["caption_votes"].name, open_captions
)
STATEMENTS = DecisionTable(
    "journeybench/statement_decisions",
    StatementDecision,
    TASKS["statements"].name,
    open_statements,
)
LOOK_ALIKES = DecisionTable(
    "journeybench/look_alikes", LookAlikeDecision, TASKS["look_alikes"].name, open_look_alikes
)
TRIGGERS = DecisionTable(
    "journeybench/rejections", Rejection, TASKS["triggers"].name, open_questions
)
