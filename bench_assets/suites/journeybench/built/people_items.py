"""What people are asked about when an edition of JourneyBench is built: only what is decided.

Pictures of the gallery -> captions of those that were kept -> votes on the captions; statements,
look-alikes and questions of the kept captions.
"""

from collections.abc import Iterable, Sequence

from bench_assets.core.rows import StoredImage
from bench_assets.people.forms import Item
from bench_assets.people.item_ids import item_id
from bench_assets.suites.journeybench import people_forms as forms
from bench_assets.suites.journeybench.built.captions import (
    kept_captions,
    plain,
)
from bench_assets.suites.journeybench.built.distractors import Statement, worth_asking
from bench_assets.suites.journeybench.built.look_alikes import LookAlike
from bench_assets.suites.journeybench.built.triggers import whole_questions
from bench_assets.suites.journeybench.decisions import CaptionDecision, FilterDecision
from bench_assets.suites.journeybench.raw import GalleryPicture, WrittenCaption
from bench_assets.suites.journeybench.writing import Written

_PICTURE = "Picture"


def filter_items(gallery: Sequence[GalleryPicture], images: Sequence[StoredImage]) -> list[Item]:
    """Ask about each picture of the gallery that decodes."""
    there = _digests(images)
    return [
        Item(
            form=forms.FILTER.name,
            item_id=item_id(name),
            pictures={_PICTURE: there[name]},
            needed=forms.N_FILTERING,
        )
        for name in dict.fromkeys(one.picture for one in gallery)
        if name in there
    ]


def writing_items(decisions: Sequence[FilterDecision], images: Sequence[StoredImage]) -> list[Item]:
    """Ask for captions of the pictures that were kept."""
    there = _digests(images)
    return [
        Item(
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
) -> list[Item]:
    """Ask about each caption of the kept pictures; of those that say the same, the first."""
    there = _digests(images)
    kept = {one.picture for one in decisions if one.kept} & there.keys()
    first: dict[tuple[str, str], WrittenCaption] = {}
    for one in written:
        if one.picture in kept and plain(one.caption):
            first.setdefault((one.picture, plain(one.caption)), one)
    return [
        Item(
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
) -> list[Item]:
    """Ask about each statement that rules do not sort out."""
    there = _digests(images)
    return [
        Item(
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
) -> list[Item]:
    """Ask about each pair that was proposed, once."""
    there, captions = _digests(images), kept_captions(caption_decisions)
    return [
        Item(
            form=forms.ALIKE.name,
            item_id=item_id(picture, candidate),
            shown={"Captions of the first": "\n".join(captions.get(picture, ()))},
            pictures={"First": there[picture], "Second": there[candidate]},
            needed=forms.N_CHECKING,
        )
        for picture, candidate in dict.fromkeys((one.picture, one.candidate) for one in proposed)
        if picture in there and candidate in there
    ]


def trigger_items(replies: Sequence[Written], images: Sequence[StoredImage]) -> list[Item]:
    """Ask about each question that is whole."""
    there = _digests(images)
    asked = {(one.picture, plain(one.question)): one for one in whole_questions(replies)}
    return [
        Item(
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
