"""Turns rows of the release, or the answer key alone, into questions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bench_assets.core.schema.rows import Edition, Question
from bench_assets.suites.blink.dataset.perception_tasks import PERCEPTION_TASKS
from bench_assets.suites.blink.dataset.source import BlinkItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """One line of Table 3."""

    statistic: str
    n: int
    paper: int


def to_question(item: BlinkItem, images: Sequence[str]) -> Question:
    """Make a question of a row of the release.

    Its ``context`` is the release's ``prompt``, which is asked word for word. Its edition is to be
    named when all rows are there, by ``name_edition``.

    Args:
        item: The row.
        images: SHA-256 of its images, in order.
    """
    explanation = {"explanation": item.explanation} if item.explanation else {}
    return Question(
        question_id=f"blink/{item.idx}",
        task="blink",
        edition="own",
        kind="choice",
        text=item.question,
        answer=(item.letter,) if item.letter else (),
        images=tuple(images),
        options=item.choices,
        context=item.prompt,
        category=item.task.name,
        labels={"split": item.split, "sub_task": item.task.name, **explanation},
    )


def from_key(key: Mapping[str, str]) -> list[Question]:
    """Make questions of an answer key: without images, good for scoring and nothing else."""
    names = {idx: idx.split("_", 1)[1].rpartition("_")[0] for idx in key}
    return [
        Question(
            question_id=f"blink/{idx}",
            task="blink",
            edition="own",
            kind="choice",
            text=PERCEPTION_TASKS[name].question,
            answer=(key[idx],),
            options=PERCEPTION_TASKS[name].options,
            category=name,
            labels={"split": "val", "sub_task": name},
        )
        for idx, name in names.items()
    ]


def name_edition(questions: Sequence[Question]) -> list[Question]:
    """Call questions published if their validation split is the release's, else ``"own"``.

    A selection of the release, or other data in its form, has numbers of its own.
    """
    released = {
        f"blink/val_{task.name}_{number}"
        for task in PERCEPTION_TASKS.values()
        for number in range(1, task.val + 1)
    }
    found = {one.question_id for one in questions if one.labels["split"] == "val"}
    edition: Edition = "published" if found == released else "own"
    return [replace(question, edition=edition) for question in questions]


def scorable(items: Iterable[Question]) -> list[Question]:
    """Take the questions whose answer is known: the validation split of the release."""
    return [question for question in items if question.answer]


def hidden_split(items: Iterable[Question]) -> list[Question]:
    """Take the test split, answers hidden as in the release."""
    return [replace(one, answer=()) for one in items if one.labels["split"] == "test"]


def several_images(questions: Iterable[Question]) -> list[Question]:
    """Take the questions of the eight tasks with more than one image (appendix C.1)."""
    return [one for one in questions if PERCEPTION_TASKS[one.category].images > 1]


def statistics(items: Sequence[Question]) -> list[Statistic]:
    """Count what Table 3 counts, over both splits."""
    tasks = [PERCEPTION_TASKS[item.category] for item in items]
    n_images = [task.images for task in tasks]
    splits = [item.labels["split"] for item in items]
    counted = {
        "questions": (len(items), 3807),
        "images": (sum(n_images), 7358),
        "validation": (splits.count("val"), 1901),
        "test": (splits.count("test"), 1906),
        "with visual prompts": (sum(task.visual_prompt for task in tasks), 1946),
        "with images or regions as choices": (sum(task.image_choices for task in tasks), 2747),
        "with an explanation": (sum("explanation" in item.labels for item in items), 300),
        "with several images": (sum(n > 1 for n in n_images), 2218),
        "with 2 images": (n_images.count(2), 1149),
        "with 3 images": (n_images.count(3), 805),
        "with 4 images": (n_images.count(4), 264),
    }
    return [Statistic(statistic=name, n=n, paper=paper) for name, (n, paper) in counted.items()]
