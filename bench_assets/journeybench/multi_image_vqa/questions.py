"""Turns multi-image rows into questions."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bench_assets.core.rows import Question, Rejection, StoredImage
from bench_assets.journeybench.multi_image_vqa.source import CAUSE, CAUSE_ANSWERS, MultiImageItem


class QuestionTable(NamedTuple):
    """The rows that became questions, and why the others did not."""

    questions: list[Question]
    rejections: list[Rejection]


def to_questions(
    items: Sequence[MultiImageItem], images: Mapping[str, StoredImage], edition: str
) -> QuestionTable:
    """Make a question of every row that is complete and whose two pictures are there.

    Args:
        items: In file order.
        images: Stored pictures by the name or url that rows know them by.
        edition: ``"published"``, ``"mini"`` or ``"built"``.
    """
    table = QuestionTable([], [])
    for item in items:
        if faults := _faults(item, images):
            entry = f"multi_image_vqa, {item.item_id}"
            table.rejections.append(Rejection(entry=entry, reason="; ".join(faults)))
        else:
            table.questions.append(_question(item, images, edition))
    return table


def _question(item: MultiImageItem, images: Mapping[str, StoredImage], edition: str) -> Question:
    is_choice = item.category == CAUSE
    parts = [item.answer.replace(" ", "").casefold()] if is_choice else item.answer.split(";")
    return Question(
        question_id=f"journeybench/multi_image_vqa/{item.item_id}",
        task="journeybench/multi_image_vqa",
        edition=edition,
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
