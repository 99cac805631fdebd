"""Turns MCOT rows into questions."""

from collections.abc import Mapping, Sequence

from bench_assets.core.rows import Question, Rejection, StoredImage
from bench_assets.suites.journeybench.asked import Asked
from bench_assets.suites.journeybench.mcot.co_reference import is_label, labels_of
from bench_assets.suites.journeybench.mcot.source import McotItem


def to_questions(items: Sequence[McotItem], images: Mapping[str, StoredImage]) -> Asked:
    """Make a question of every row that is complete and whose picture is there.

    Rows with the same question are a group: one problem in several visual contexts (section 3.4).

    Args:
        items: In file order.
        images: Stored pictures by the name or url that rows know them by.
    """
    found = Asked([], [])
    groups: dict[str, str] = {}
    for item in items:
        if faults := _faults(item, images):
            entry = f"mcot, {item.item_id}, {item.picture}"
            found.rejections.append(Rejection(entry=entry, reason="; ".join(faults)))
            continue
        group = groups.setdefault(" ".join(item.question.split()), item.item_id)
        found.questions.append(_question(item, images[item.picture], group))
    return found


def alternatives(answer: str) -> tuple[str, ...]:
    """Part the alternatives of a ground truth.

    >>> alternatives("no cups exist; there is not any cup; 0")
    ('no cups exist', 'there is not any cup', '0')
    """
    return tuple(part for part in map(str.strip, answer.split(";")) if part)


def flag_of(item: McotItem) -> str:
    """Say what is doubtful about a row's ground truth; "" if nothing is.

    The row is asked all the same: the authors' scores are over such rows too.
    """
    names = [part for part in alternatives(item.answer) if is_label(part)]
    return f"the answer {names[0]!r} is the name of a label" if names else ""


def _question(item: McotItem, image: StoredImage, group: str) -> Question:
    return Question(
        question_id=f"journeybench/mcot/{item.item_id}",
        task="journeybench/mcot",
        edition="own",
        kind="text",
        text=item.question,
        answer=alternatives(item.answer),
        images=(image.sha256,),
        category="; ".join(labels_of(item.category)),
        group_id=group,
        labels={"picture": item.picture, "solution": item.solution, "flag": flag_of(item)},
    )


def _faults(item: McotItem, images: Mapping[str, StoredImage]) -> list[str]:
    faults = {
        "the question is empty": not item.question.strip(),
        "the answer is empty": not alternatives(item.answer),
        f"picture {item.picture!r} is missing or does not decode": item.picture not in images,
    }
    return [fault for fault, holds in faults.items() if holds]
