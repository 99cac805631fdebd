"""Turns multi-image rows into questions."""

from collections.abc import Mapping, Sequence

from bench_assets.core.rows import Question, Rejection, StoredImage
from bench_assets.suites.journeybench.asked import Asked
from bench_assets.suites.journeybench.multi_image_vqa.source import CAUSE, MultiImageItem
from bench_assets.suites.journeybench.source import CAUSE_ANSWERS


def to_questions(items: Sequence[MultiImageItem], images: Mapping[str, StoredImage]) -> Asked:
    """Make a question of every row that is complete and whose two pictures are there.

    Args:
        items: In file order.
        images: Stored pictures by the name or url that rows know them by.
    """
    found = Asked([], [])
    for item in items:
        if faults := _faults(item, images):
            entry = f"multi_image_vqa, {item.item_id}"
            found.rejections.append(Rejection(entry=entry, reason="; ".join(faults)))
        else:
            found.questions.append(_question(item, images))
    return found


def _question(item: MultiImageItem, images: Mapping[str, StoredImage]) -> Question:
    is_choice = item.category == CAUSE
    parts = [item.answer.replace(" ", "").casefold()] if is_choice else item.answer.split(";")
    return Question(
        question_id=f"journeybench/multi_image_vqa/{item.item_id}",
        task="journeybench/multi_image_vqa",
        edition="own",
        kind="text",
        text=item.question,
        answer=tuple(part.strip() for part in parts if part.strip()),
        images=tuple(images[name].sha256 for name in item.pictures),
        options=CAUSE_ANSWERS if is_choice else (),
        category=item.category,
        group_id="+".join(sorted(item.pictures)),
        labels={"solution": item.solution},
    )


def _faults(item: MultiImageItem, images: Mapping[str, StoredImage]) -> list[str]:
    missing = [name for name in item.pictures if name not in images]
    faults = {
        "the question is empty": not item.question.strip(),
        "the answer is empty": not item.answer.strip(" ;"),
        f"missing or not decoding: {', '.join(missing)}": bool(missing),
    }
    return [fault for fault, holds in faults.items() if holds]
