"""Turns HaloQuest's entries into questions."""

from collections.abc import Iterable, Mapping

from bench_assets.core.rows import Question, Rejection, StoredImage
from bench_assets.journeybench.hallucination_vqa.source import TriggerQuestion

TASK_NAME = "journeybench/hallucination_vqa"


def to_questions(
    entries: Iterable[TriggerQuestion], images: Mapping[str, StoredImage], edition: str
) -> list[Question]:
    """Ask every entry whose picture is there; ``without_picture`` lists the others.

    Args:
        entries: The selected ones.
        images: Stored pictures by the name that entries know them by.
        edition: Which route they came.
    """
    return [
        Question(
            question_id=f"{TASK_NAME}/{entry.entry_id}",
            task=TASK_NAME,
            edition=edition,
            kind="text",
            text=entry.question,
            answer=entry.answers,
            images=(images[entry.picture].sha256,),
            category=entry.trigger,
            group_id=images[entry.picture].sha256,
            labels={"image_source": entry.image_source, "picture": entry.picture},
        )
        for entry in entries
        if entry.picture in images
    ]


def without_picture(
    entries: Iterable[TriggerQuestion], images: Mapping[str, StoredImage]
) -> list[Rejection]:
    """List the entries that cannot be asked, because nobody has their picture."""
    return [
        Rejection(entry=entry.entry_id, reason=f"no picture: {entry.picture}")
        for entry in entries
        if entry.picture not in images
    ]
