"""Annotation tasks of JourneyBench's built route, and their answers as rows of votes and captions.

Images of the gallery -> captions of the kept images -> votes on the captions; then statements,
look-alikes and trigger questions of the kept captions.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from bench_assets.annotation.tasks import Answer, Unit, split_unit_id, suite_task, unit_id
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench.construction.distractors import Statement, filter_statements
from bench_assets.suites.journeybench.construction.filtering import kept_captions
from bench_assets.suites.journeybench.construction.look_alikes import LookAlike
from bench_assets.suites.journeybench.construction.triggers import valid_questions
from bench_assets.suites.journeybench.raw_material import (
    CRITERIA,
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
    normalize_text,
)
from bench_assets.suites.journeybench.text_generation import GeneratedText

N_FILTERING = 4  # annotators per image, at least (3.1)
N_WRITERS = 8  # writers per image (3.2)
N_VERIFIERS = 4  # verifiers per caption (3.2)
N_CHECKING = 3  # annotators per statement, look-alike or question: the paper gives no number

_IMAGE = "Image"


def digests(images: Iterable[StoredImage]) -> dict[str, str]:
    """Map the names of images in the source to their SHA-256."""
    return {image.name: image.sha256 for image in images}


def filter_units(gallery: Sequence[GalleryImage], images: Sequence[StoredImage]) -> list[Unit]:
    """Build one unit per image of the gallery that decodes."""
    digest_of = digests(images)
    return [
        Unit(
            task=TASKS["filter"].name,
            unit_id=unit_id(name),
            images={_IMAGE: digest_of[name]},
            needed=N_FILTERING,
        )
        for name in dict.fromkeys(gallery_image.image for gallery_image in gallery)
        if name in digest_of
    ]


def writing_units(decisions: Sequence[FilterDecision], images: Sequence[StoredImage]) -> list[Unit]:
    """Build one unit per kept image, to be captioned."""
    digest_of = digests(images)
    return [
        Unit(
            task=TASKS["captions"].name,
            unit_id=unit_id(decision.image),
            images={_IMAGE: digest_of[decision.image]},
            needed=N_WRITERS,
        )
        for decision in decisions
        if decision.kept and decision.image in digest_of
    ]


def caption_units(
    captions: Sequence[WrittenCaption],
    decisions: Sequence[FilterDecision],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Build one unit per caption of a kept image, but not for empty and repeated captions."""
    digest_of = digests(images)
    kept = {decision.image for decision in decisions if decision.kept} & digest_of.keys()
    first_captions: dict[tuple[str, str], WrittenCaption] = {}
    for caption in captions:
        text = normalize_text(caption.caption)
        if caption.image in kept and text:
            first_captions.setdefault((caption.image, text), caption)
    return [
        Unit(
            task=TASKS["caption_votes"].name,
            unit_id=unit_id(caption.image, caption.writer),
            shown={"Caption": " ".join(caption.caption.split())},
            images={_IMAGE: digest_of[caption.image]},
            needed=N_VERIFIERS,
            barred=(caption.writer,),
        )
        for caption in first_captions.values()
    ]


def statement_units(
    statements: Sequence[Statement],
    caption_decisions: Sequence[CaptionDecision],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Build one unit per statement that ``filter_statements`` keeps."""
    digest_of = digests(images)
    return [
        Unit(
            task=TASKS["statements"].name,
            unit_id=unit_id(statement.image, normalize_text(statement.text)),
            shown={"Statement": statement.text},
            images={_IMAGE: digest_of[statement.image]},
            needed=N_CHECKING,
        )
        for statement in filter_statements(statements, kept_captions(caption_decisions))
        if statement.image in digest_of
    ]


def look_alike_units(
    look_alike_proposals: Sequence[LookAlike],
    caption_decisions: Sequence[CaptionDecision],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Build one unit per proposed pair of images that decode."""
    digest_of, captions = digests(images), kept_captions(caption_decisions)
    return [
        Unit(
            task=TASKS["look_alikes"].name,
            unit_id=unit_id(image, candidate),
            shown={"Captions of the first": "\n".join(captions.get(image, ()))},
            images={"First": digest_of[image], "Second": digest_of[candidate]},
            needed=N_CHECKING,
        )
        for image, candidate in dict.fromkeys(
            (look_alike.image, look_alike.candidate) for look_alike in look_alike_proposals
        )
        if image in digest_of and candidate in digest_of
    ]


def trigger_units(
    trigger_responses: Sequence[GeneratedText], images: Sequence[StoredImage]
) -> list[Unit]:
    """Build one unit per valid question about a stored image."""
    digest_of = digests(images)
    return [
        Unit(
            task=TASKS["triggers"].name,
            unit_id=unit_id(question.image, normalize_text(question.question)),
            shown={
                "Kind": question.trigger,
                "Question": question.question,
                "Answers": "\n".join(question.answers),
            },
            images={_IMAGE: digest_of[question.image]},
            needed=N_CHECKING,
        )
        for question in valid_questions(trigger_responses)
        if question.image in digest_of
    ]


Row = TypeVar("Row")


def _to_votes(
    row_type: Callable[..., Row],
    person_field: str,
    unit_fields: Sequence[str],
    yes_no_fields: Sequence[str],
    answers: Sequence[Answer],
) -> list[Row]:
    """Convert answers to votes.

    Args:
        row_type: Row type of the votes.
        person_field: Field of the row for the annotator.
        unit_fields: Fields of the row for the parts of the unit's id.
        yes_no_fields: Yes-or-no fields, of the same name in row and annotation task.
        answers: Answers of the task.
    """
    return [
        row_type(
            **dict(zip(unit_fields, split_unit_id(answer.unit_id), strict=True)),
            **{person_field: answer.person},
            **{name: answer.values[name] == ("yes",) for name in yes_no_fields},
            **_source_note(answer),
        )
        for answer in answers
    ]


to_filter_votes = partial(_to_votes, FilterVote, "annotator", ["image"], CRITERIA)
to_caption_votes = partial(_to_votes, CaptionVote, "verifier", ["image", "writer"], ["accepts"])
to_statement_votes = partial(
    _to_votes, StatementVote, "annotator", ["image", "statement"], ["conflicts"]
)
to_look_alike_votes = partial(
    _to_votes, LookAlikeVote, "annotator", ["image", "candidate"], ["alike", "conflicts"]
)
to_trigger_votes = partial(_to_votes, TriggerVote, "annotator", ["image", "question"], ["accepts"])


def to_written_captions(answers: Sequence[Answer]) -> list[WrittenCaption]:
    """Convert answers to captions."""
    captions = []
    for answer in answers:
        (image,) = split_unit_id(answer.unit_id)
        text = answer.values["caption"][0]
        captions.append(
            WrittenCaption(image=image, writer=answer.person, caption=text, **_source_note(answer))
        )
    return captions


def _source_note(answer: Answer) -> dict[str, Any]:
    return {"seconds": answer.seconds, "at": answer.at, "tool": answer.tool}


FILTER = suite_task(TASKS["filter"], filter_units, to_filter_votes, FilterVote)
WRITE = suite_task(TASKS["captions"], writing_units, to_written_captions)
VERIFY = suite_task(
    TASKS["caption_votes"],
    caption_units,
    to_caption_votes,
    CaptionVote,
    captions="written_captions",
)
CONFLICTS = suite_task(TASKS["statements"], statement_units, to_statement_votes, StatementVote)
ALIKE = suite_task(TASKS["look_alikes"], look_alike_units, to_look_alike_votes, LookAlikeVote)
TRIGGER = suite_task(TASKS["triggers"], trigger_units, to_trigger_votes, TriggerVote)
ANNOTATION_TASKS = (FILTER, WRITE, VERIFY, CONFLICTS, ALIKE, TRIGGER)
