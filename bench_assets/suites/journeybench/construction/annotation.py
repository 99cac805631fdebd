"""What people are asked when an edition of JourneyBench is built.

What people are asked about when an edition of JourneyBench is built: only what is decided.

Pictures of the gallery -> captions of those that were kept -> votes on the captions; statements,
look-alikes and questions of the kept captions.

What people answered, as JourneyBench's own rows of votes and captions.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from bench_assets.annotation.tasks.forms import Answer, Unit
from bench_assets.annotation.tasks.identifiers import item_id, parts_of
from bench_assets.annotation.tasks.suite_forms import SuiteForm, TableOf
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench import decisions as forms
from bench_assets.suites.journeybench.construction.captions import kept_captions, plain
from bench_assets.suites.journeybench.construction.distractors import Statement, worth_asking
from bench_assets.suites.journeybench.construction.look_alikes import LookAlike
from bench_assets.suites.journeybench.construction.triggers import whole_questions
from bench_assets.suites.journeybench.decisions import CaptionDecision, FilterDecision
from bench_assets.suites.journeybench.raw_material import (
    CaptionVote,
    FilterVote,
    GalleryPicture,
    LookAlikeVote,
    StatementVote,
    TriggerVote,
    WrittenCaption,
)
from bench_assets.suites.journeybench.text_generation import GeneratedText

_PICTURE = "Picture"


def filter_items(gallery: Sequence[GalleryPicture], images: Sequence[StoredImage]) -> list[Unit]:
    """Ask about each picture of the gallery that decodes."""
    there = _digests(images)
    return [
        Unit(
            form=forms.FILTER.name,
            item_id=item_id(name),
            pictures={_PICTURE: there[name]},
            needed=forms.N_FILTERING,
        )
        for name in dict.fromkeys(one.picture for one in gallery)
        if name in there
    ]


def writing_items(decisions: Sequence[FilterDecision], images: Sequence[StoredImage]) -> list[Unit]:
    """Ask for captions of the pictures that were kept."""
    there = _digests(images)
    return [
        Unit(
            form=forms.WRITE.name,
            item_id=item_id(one.picture),
            pictures={_PICTURE: there[one.picture]},
            needed=forms.N_WRITERS,
        )
        for one in decisions
        if one.kept and one.picture in there
    ]


def caption_items(
    written: Sequence[WrittenCaption],
    decisions: Sequence[FilterDecision],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Ask about each caption of the kept pictures; of those that say the same, the first."""
    there = _digests(images)
    kept = {one.picture for one in decisions if one.kept} & there.keys()
    first: dict[tuple[str, str], WrittenCaption] = {}
    for one in written:
        if one.picture in kept and plain(one.caption):
            first.setdefault((one.picture, plain(one.caption)), one)
    return [
        Unit(
            form=forms.VERIFY.name,
            item_id=item_id(one.picture, one.writer),
            shown={"Caption": " ".join(one.caption.split())},
            pictures={_PICTURE: there[one.picture]},
            needed=forms.N_VERIFIERS,
            barred=(one.writer,),
        )
        for one in first.values()
    ]


def statement_items(
    statements: Sequence[Statement],
    caption_decisions: Sequence[CaptionDecision],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Ask about each statement that rules do not sort out."""
    there = _digests(images)
    return [
        Unit(
            form=forms.CONFLICTS.name,
            item_id=item_id(one.picture, plain(one.text)),
            shown={"Statement": one.text},
            pictures={_PICTURE: there[one.picture]},
            needed=forms.N_CHECKING,
        )
        for one in worth_asking(statements, kept_captions(caption_decisions))
        if one.picture in there
    ]


def look_alike_items(
    proposed: Sequence[LookAlike],
    caption_decisions: Sequence[CaptionDecision],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Ask about each pair that was proposed, once."""
    there, captions = _digests(images), kept_captions(caption_decisions)
    return [
        Unit(
            form=forms.ALIKE.name,
            item_id=item_id(picture, candidate),
            shown={"Captions of the first": "\n".join(captions.get(picture, ()))},
            pictures={"First": there[picture], "Second": there[candidate]},
            needed=forms.N_CHECKING,
        )
        for picture, candidate in dict.fromkeys((one.picture, one.candidate) for one in proposed)
        if picture in there and candidate in there
    ]


def trigger_items(replies: Sequence[GeneratedText], images: Sequence[StoredImage]) -> list[Unit]:
    """Ask about each question that is whole."""
    there = _digests(images)
    asked = {(one.picture, plain(one.question)): one for one in whole_questions(replies)}
    return [
        Unit(
            form=forms.TRIGGER.name,
            item_id=item_id(*name),
            shown={
                "Kind": one.trigger,
                "Question": one.question,
                "Answers": "\n".join(one.answers),
            },
            pictures={_PICTURE: there[one.picture]},
            needed=forms.N_CHECKING,
        )
        for name, one in asked.items()
        if one.picture in there
    ]


def _digests(images: Iterable[StoredImage]) -> dict[str, str]:
    return {image.name: image.sha256 for image in images}


Row = TypeVar("Row")


def _votes(
    row: Callable[..., Row], who: str, about: Sequence[str], asked: Sequence[str]
) -> Callable[[Sequence[Answer]], list[Row]]:
    """Make what reads answers to a form as votes.

    Args:
        row: Makes one vote.
        who: Its field for the person.
        about: Its fields for what the item is, by the parts of the item's id.
        asked: Its fields for what is answered with yes or no; the form's are called the same.
    """

    def read(answers: Sequence[Answer]) -> list[Row]:
        return [
            row(
                **dict(zip(about, parts_of(one.item_id), strict=True)),
                **{who: one.person},
                **{name: one.values[name] == ("yes",) for name in asked},
                **_told(one),
            )
            for one in answers
        ]

    return read


filter_votes = _votes(
    FilterVote, "annotator", ["picture"], ["unusual", "fictional", "comprehensible"]
)
caption_votes = _votes(CaptionVote, "verifier", ["picture", "writer"], ["accepts"])
statement_votes = _votes(StatementVote, "annotator", ["picture", "statement"], ["conflicts"])
look_alike_votes = _votes(
    LookAlikeVote, "annotator", ["picture", "candidate"], ["alike", "conflicts"]
)
trigger_votes = _votes(TriggerVote, "annotator", ["picture", "question"], ["accepts"])


def written(answers: Sequence[Answer]) -> list[WrittenCaption]:
    """Read captions."""
    return [
        WrittenCaption(
            picture=picture, writer=one.person, caption=one.values["caption"][0], **_told(one)
        )
        for one in answers
        for (picture,) in [parts_of(one.item_id)]
    ]


def _told(answer: Answer) -> dict[str, Any]:
    """What every row tells of how it was said."""
    return {"seconds": answer.seconds, "at": answer.at, "tool": answer.tool}


_IMAGES = TableOf("journeybench/images", StoredImage)
_DECISIONS = TableOf("journeybench/decisions", FilterDecision)
_CAPTIONS = TableOf("journeybench/caption_decisions", CaptionDecision)

FILTER = SuiteForm(
    form=forms.FILTER,
    reads={"gallery": TableOf("journeybench/gallery", GalleryPicture), "images": _IMAGES},
    items=filter_items,
    row=FilterVote,
    to_rows=filter_votes,
)
WRITE = SuiteForm(
    form=forms.WRITE,
    reads={"decisions": _DECISIONS, "images": _IMAGES},
    items=writing_items,
    row=WrittenCaption,
    to_rows=written,
)
VERIFY = SuiteForm(
    form=forms.VERIFY,
    reads={
        "written": TableOf("journeybench/written_captions", WrittenCaption),
        "decisions": _DECISIONS,
        "images": _IMAGES,
    },
    items=caption_items,
    row=CaptionVote,
    to_rows=caption_votes,
)
CONFLICTS = SuiteForm(
    form=forms.CONFLICTS,
    reads={
        "statements": TableOf("journeybench/statements", Statement),
        "caption_decisions": _CAPTIONS,
        "images": _IMAGES,
    },
    items=statement_items,
    row=StatementVote,
    to_rows=statement_votes,
)
ALIKE = SuiteForm(
    form=forms.ALIKE,
    reads={
        "proposed": TableOf("journeybench/look_alike_proposals", LookAlike),
        "caption_decisions": _CAPTIONS,
        "images": _IMAGES,
    },
    items=look_alike_items,
    row=LookAlikeVote,
    to_rows=look_alike_votes,
)
TRIGGER = SuiteForm(
    form=forms.TRIGGER,
    reads={"replies": TableOf("journeybench/trigger_replies", GeneratedText), "images": _IMAGES},
    items=trigger_items,
    row=TriggerVote,
    to_rows=trigger_votes,
)
FORMS = (FILTER, WRITE, VERIFY, CONFLICTS, ALIKE, TRIGGER)
