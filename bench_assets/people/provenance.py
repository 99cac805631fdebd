"""From a question back to what people said when it was made."""

from collections.abc import Collection, Sequence

from bench_assets.people.forms import Answer, Item


def items_behind(
    question_id: str, group_id: str, images: Collection[str], items: Sequence[Item]
) -> list[Item]:
    """Find what people were asked that became a question.

    Items whose id is a part of the question's, as that of a submission is; else those that show
    one of its pictures.

    Args:
        question_id: Such as "codis/s001/2".
        group_id: Of the question.
        images: SHA-256 of each of its pictures.
        items: All that were asked on a form.
    """
    parts = {*question_id.split("/"), group_id}
    named = [item for item in items if item.item_id in parts]
    return named or [item for item in items if {*item.pictures.values()} & {*images}]


def said_of(items: Sequence[Item], answers: Sequence[Answer]) -> list[Answer]:
    """What people said of items, also what does not count, in the order they said it."""
    ids = {item.item_id for item in items}
    return sorted((one for one in answers if one.item_id in ids), key=lambda one: one.changed_at)
