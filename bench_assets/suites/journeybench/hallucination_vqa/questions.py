"""Turns HaloQuest's entries into questions."""

from collections.abc import Mapping, Sequence

from bench_assets.core.rows import Question, Rejection, StoredImage
from bench_assets.suites.journeybench.asked import Asked
from bench_assets.suites.journeybench.hallucination_vqa.source import TriggerQuestion

TASK_NAME = "journeybench/hallucination_vqa"


def to_questions(entries: Sequence[TriggerQuestion], images: Mapping[str, StoredImage]) -> Asked:
    """Ask every entry whose picture is there.

    Args:
        entries: The selected ones.
        images: Stored pictures by the name that entries know them by.
    """
    questions = [
        Question(
            question_id=f"{TASK_NAME}/{entry.entry_id}",
            task=TASK_NAME,
            edition="own",
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
    missing = [entry for entry in entries if entry.picture not in images]
    return Asked(
        questions,
        [Rejection(entry=e.entry_id, reason=f"no picture: {e.picture}") for e in missing],
    )
