"""Turns captioned pictures into questions."""

from collections.abc import Mapping, Sequence

from bench_assets.core.rows import Question, Rejection, StoredImage
from bench_assets.suites.journeybench.asked import Asked
from bench_assets.suites.journeybench.captioning.source import CaptionedImage

TASK_NAME = "journeybench/captioning"
_TEXT = "Describe in one sentence what is unusual in the picture."


def to_questions(entries: Sequence[CaptionedImage], images: Mapping[str, StoredImage]) -> Asked:
    """Ask for a caption of every picture that is there.

    Args:
        entries: Captioned pictures.
        images: Stored pictures by the name that entries know them by.
    """
    questions = [
        Question(
            question_id=f"{TASK_NAME}/{entry.entry_id}",
            task=TASK_NAME,
            edition="own",
            kind="text",
            text=_TEXT,
            answer=entry.captions,
            images=(images[entry.picture].sha256,),
            category="; ".join(entry.categories),
            labels={"picture": entry.picture},
        )
        for entry in entries
        if entry.picture in images
    ]
    missing = [entry for entry in entries if entry.picture not in images]
    return Asked(
        questions,
        [Rejection(entry=e.entry_id, reason=f"no picture: {e.picture}") for e in missing],
    )
