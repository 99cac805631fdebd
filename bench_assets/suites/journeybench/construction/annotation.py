"""Annotation tasks of JourneyBench's built route, and their answers as rows of votes and captions.

Images of the gallery -> captions of the kept images -> votes on the captions; then statements,
look-alikes and trigger questions of the kept captions.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from bench_assets.annotation.tasks import (
    Answer,
    SuiteAnnotationTask,
    TableOf,
    Unit,
    parts_of,
    unit_id,
)
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench.construction.distractors import Statement, worth_asking
from bench_assets.suites.journeybench.construction.filtering import kept_captions
from bench_assets.suites.journeybench.construction.look_alikes import LookAlike
from bench_assets.suites.journeybench.construction.triggers import whole_questions
from bench_assets.suites.journeybench.raw_material import (
    TASKS,
    CaptionDecision,
    CaptionVote,
    FilterDecision,
    FilterVote,
    GalleryImage,
    LookAlikeVote,
    StatementVote,
    TriggerVote,
    WrittenCaption,
    plain,
)
from bench_assets.suites.journeybench.text_generation import GeneratedText

N_FILTERING = 4  # annotators per image, at least (3.1)
N_WRITERS = 8  # per image (3.2)
N_VERIFIERS = 4  # per caption (3.2)
N_CHECKING = 3  # per statement, look-alike or question: the paper gives no number

_IMAGE = "Image"


def digests(images: Iterable[StoredImage]) -> dict[str, str]:
    """SHA-256 of images by the source's name."""
    return {image.name: image.sha256 for image in images}


def filter_items(gallery: Sequence[GalleryImage], images: Sequence[StoredImage]) -> list[Unit]:
    """Build one unit per image of the gallery that decodes."""
    there = digests(images)
    return [
        Unit(
            task=TASKS["filter"].name,
            unit_id=unit_id(name),
            images={_IMAGE: there[name]},
            needed=N_FILTERING,
        )
        for name in dict.fromkeys(one.image for one in gallery)
        if name in there
    ]


def writing_items(decisions: Sequence[FilterDecision], images: Sequence[StoredImage]) -> list[Unit]:
    """Build one unit per kept image, to be captioned."""
    there = digests(images)
    return [
        Unit(
            task=TASKS["captions"].name,
            unit_id=unit_id(one.image),
            images={_IMAGE: there[one.image]},
            needed=N_WRITERS,
        )
        for one in decisions
        if one.kept and one.image in there
    ]


def caption_items(
    written: Sequence[WrittenCaption],
    decisions: Sequence[FilterDecision],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Build one unit per caption of the kept images; of equal captions, the first."""
    there = digests(images)
    kept = {one.image for one in decisions if one.kept} & there.keys()
    first: dict[tuple[str, str], WrittenCaption] = {}
    for one in written:
        if one.image in kept and plain(one.caption):
            first.setdefault((one.image, plain(one.caption)), one)
    return [
        Unit(
            task=TASKS["caption_votes"].name,
            unit_id=unit_id(one.image, one.writer),
            shown={"Caption": " ".join(one.caption.split())},
            images={_IMAGE: there[one.image]},
            needed=N_VERIFIERS,
            barred=(one.writer,),
        )
        for one in first.values()
    ]


def statement_items(
    statements: Sequence[Statement],
    caption_decisions: Sequence[CaptionDecision],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Build one unit per statement that the rules do not reject."""
    there = digests(images)
    return [
        Unit(
            task=TASKS["statements"].name,
            unit_id=unit_id(one.image, plain(one.text)),
            shown={"Statement": one.text},
            images={_IMAGE: there[one.image]},
            needed=N_CHECKING,
        )
        for one in worth_asking(statements, kept_captions(caption_decisions))
        if one.image in there
    ]


def look_alike_items(
    proposed: Sequence[LookAlike],
    caption_decisions: Sequence[CaptionDecision],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Build one unit per proposed pair of images."""
    there, captions = digests(images), kept_captions(caption_decisions)
    return [
        Unit(
            task=TASKS["look_alikes"].name,
            unit_id=unit_id(image, candidate),
            shown={"Captions of the first": "\n".join(captions.get(image, ()))},
            images={"First": there[image], "Second": there[candidate]},
            needed=N_CHECKING,
        )
        for image, candidate in dict.fromkeys((one.image, one.candidate) for one in proposed)
        if image in there and candidate in there
    ]


def trigger_items(responses: Sequence[GeneratedText], images: Sequence[StoredImage]) -> list[Unit]:
    """Build one unit per complete trigger question."""
    there = digests(images)
    asked = {(one.image, plain(one.question)): one for one in whole_questions(responses)}
    return [
        Unit(
            task=TASKS["triggers"].name,
            unit_id=unit_id(*name),
            shown={
                "Kind": one.trigger,
                "Question": one.question,
                "Answers": "\n".join(one.answers),
            },
            images={_IMAGE: there[one.image]},
            needed=N_CHECKING,
        )
        for name, one in asked.items()
        if one.image in there
    ]


Row = TypeVar("Row")


def _votes(
    row: Callable[..., Row], who: str, about: Sequence[str], asked: Sequence[str]
) -> Callable[[Sequence[Answer]], list[Row]]:
    """Build a function that converts answers to votes.

    Args:
        row: Row type of the votes.
        who: Field of the row for the annotator.
        about: Fields of the row for the parts of the unit's id.
        asked: Yes-or-no fields, of the same name in row and annotation task.
    """

    def read(answers: Sequence[Answer]) -> list[Row]:
        return [
            row(
                **dict(zip(about, parts_of(one.unit_id), strict=True)),
                **{who: one.person},
                **{name: one.values[name] == ("yes",) for name in asked},
                **_told(one),
            )
            for one in answers
        ]

    return read


filter_votes = _votes(
    FilterVote, "annotator", ["image"], ["unusual", "fictional", "comprehensible"]
)
caption_votes = _votes(CaptionVote, "verifier", ["image", "writer"], ["accepts"])
statement_votes = _votes(StatementVote, "annotator", ["image", "statement"], ["conflicts"])
look_alike_votes = _votes(
    LookAlikeVote, "annotator", ["image", "candidate"], ["alike", "conflicts"]
)
trigger_votes = _votes(TriggerVote, "annotator", ["image", "question"], ["accepts"])


def written(answers: Sequence[Answer]) -> list[WrittenCaption]:
    """Convert answers to captions."""
    return [
        WrittenCaption(
            image=image, writer=one.person, caption=one.values["caption"][0], **_told(one)
        )
        for one in answers
        for (image,) in [parts_of(one.unit_id)]
    ]


def _told(answer: Answer) -> dict[str, Any]:
    """Duration, time and tool of an answer."""
    return {"seconds": answer.seconds, "at": answer.at, "tool": answer.tool}


_IMAGES = TableOf("journeybench/images", StoredImage)
_DECISIONS = TableOf("journeybench/decisions", FilterDecision)
_CAPTIONS = TableOf("journeybench/caption_decisions", CaptionDecision)

FILTER = SuiteAnnotationTask(
    task=TASKS["filter"],
    reads={"gallery": TableOf("journeybench/gallery", GalleryImage), "images": _IMAGES},
    units=filter_items,
    row=FilterVote,
    to_rows=filter_votes,
)
WRITE = SuiteAnnotationTask(
    task=TASKS["captions"],
    reads={"decisions": _DECISIONS, "images": _IMAGES},
    units=writing_items,
    row=WrittenCaption,
    to_rows=written,
)
VERIFY = SuiteAnnotationTask(
    task=TASKS["caption_votes"],
    reads={
        "written": TableOf("journeybench/written_captions", WrittenCaption),
        "decisions": _DECISIONS,
        "images": _IMAGES,
    },
    units=caption_items,
    row=CaptionVote,
    to_rows=caption_votes,
)
CONFLICTS = SuiteAnnotationTask(
    task=TASKS["statements"],
    reads={
        "statements": TableOf("journeybench/statements", Statement),
        "caption_decisions": _CAPTIONS,
        "images": _IMAGES,
    },
    units=statement_items,
    row=StatementVote,
    to_rows=statement_votes,
)
ALIKE = SuiteAnnotationTask(
    task=TASKS["look_alikes"],
    reads={
        "proposed": TableOf("journeybench/look_alike_proposals", LookAlike),
        "caption_decisions": _CAPTIONS,
        "images": _IMAGES,
    },
    units=look_alike_items,
    row=LookAlikeVote,
    to_rows=look_alike_votes,
)
TRIGGER = SuiteAnnotationTask(
    task=TASKS["triggers"],
    reads={
        "responses": TableOf("journeybench/trigger_responses", GeneratedText),
        "images": _IMAGES,
    },
    units=trigger_items,
    row=TriggerVote,
    to_rows=trigger_votes,
)
ANNOTATION_TASKS = (FILTER, WRITE, VERIFY, CONFLICTS, ALIKE, TRIGGER)
