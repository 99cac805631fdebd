"""What became of images, captions, statements and look-alikes when people had voted, and why.

An item with too few votes is open: neither kept nor dropped.

The tables of votes that tasks are examined by, and those of decisions that they wait for.

The forms that people fill in when an edition of JourneyBench is built; sections 3.1 to 3.3.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from bench_assets.annotation.answers.values import DecisionTable, VoteTable
from bench_assets.annotation.tasks import AnnotationTask, Field, yes_or_no
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


N_FILTERING = 4  # annotators an image, at the least (3.1)
N_WRITERS = 8  # of an image (3.2)
N_VERIFIERS = 4  # of a caption (3.2)
N_CHECKING = 3  # of a statement, a look-alike or a question: the paper gives no number


FILTER = AnnotationTask(
    name="journeybench/filter",
    title="JourneyBench: is the image imaginary?",
    instructions="Say of each image whether it is unusual, fictional and comprehensible. It is"
    " unusual if it shows what nobody meets in daily life, things that do not belong together, or"
    " something that catches the eye. It is fictional if it cannot be so in the real world. It is"
    " comprehensible if you can tell what it shows, and nothing in it is botched.",
    fields=(
        yes_or_no("unusual", "Is it unusual?"),
        yes_or_no("fictional", "Is it fictional?"),
        yes_or_no("comprehensible", "Is it comprehensible?"),
    ),
    about="section 3.1, image filtering",
)
WRITE = AnnotationTask(
    name="journeybench/captions",
    title="JourneyBench: captions",
    instructions="Write one sentence on what is most unusual or fictional in the image, so that"
    " somebody who does not see it can imagine it.",
    fields=(Field(name="caption", kind="text", label="Caption", most=300),),
    about="section 3.2",
)
VERIFY = AnnotationTask(
    name="journeybench/caption_votes",
    title="JourneyBench: are the captions right?",
    instructions="Accept a caption if it is true of the image and tells what is most unusual or"
    " fictional in it, not just what its writer feels about it.",
    fields=(yes_or_no("accepts", "Do you accept the caption?"),),
    about="section 3.2",
)
CONFLICTS = AnnotationTask(
    name="journeybench/statements",
    title="JourneyBench: do the statements conflict with the image?",
    instructions="The statement was written to mislead. Say yes if the image shows that it is"
    " false, even if only in one detail. Say no if it is true of the image, or may be.",
    fields=(yes_or_no("conflicts", "Does it conflict with the image?"),),
    about="section 3.3, image-to-text retrieval",
)
ALIKE = AnnotationTask(
    name="journeybench/look_alikes",
    title="JourneyBench: images that are alike, and yet not the same",
    instructions="Compare the second image with the first one and its captions. They are alike if"
    " they share the subject, the composition, or both. The captions have to be wrong of the"
    " second one: otherwise it would be a right answer.",
    fields=(
        yes_or_no("alike", "Is it like the first image, in subject or composition?"),
        yes_or_no("conflicts", "Is each caption wrong of the second image?"),
    ),
    about="section 3.3, text-to-image retrieval",
)
TRIGGER = AnnotationTask(
    name="journeybench/triggers",
    title="JourneyBench: questions that invite made-up answers",
    instructions="Accept a question if it does what its kind says, and each of its answers is"
    " right. False premises: it takes something for granted that is not in the image. Visual"
    " challenge: it asks for a detail that is hard to see or to count. Insufficient context: the"
    " image does not show what is asked for.",
    fields=(yes_or_no("accepts", "Do you accept the question with its answers?"),),
    about="HaloQuest, which section 3 takes its questions from",
)


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

IMAGES = DecisionTable("journeybench/decisions", FilterDecision, FILTER.name, open_images)
CAPTIONS = DecisionTable(
    "journeybench/caption_decisions", CaptionDecision, VERIFY.name, open_captions
)
STATEMENTS = DecisionTable(
    "journeybench/statement_decisions",
    StatementDecision,
    CONFLICTS.name,
    open_statements,
)
LOOK_ALIKES = DecisionTable(
    "journeybench/look_alikes", LookAlikeDecision, ALIKE.name, open_look_alikes
)
TRIGGERS = DecisionTable("journeybench/rejections", Rejection, TRIGGER.name, open_questions)
