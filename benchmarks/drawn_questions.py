"""Questions in the forms of the five suites, as many as were published, of words that are drawn."""

from collections.abc import Iterator, Mapping
from hashlib import sha256

import numpy as np

from bench_assets.core.schema.rows import AnswerKind, Question
from bench_assets.evaluation.task import Task

PUBLISHED = {
    "blink": 3807,  # of both splits
    "codis": 706,
    "cogbench/description": 251,
    "cogbench/vqa": 2670,
    "journeybench/captioning": 1042,
    "journeybench/hallucination_vqa": 608,
    "journeybench/mcot": 2599,
    "journeybench/multi_image_vqa": 313,
    "multi": 18_430,
}
"""Task -> questions, as the papers count them."""

_SYLLABLES = [one + two for one in "bdfgklmnprst" for two in "aeiou"]
_WORDS = [one + two + end for one in _SYLLABLES for two in _SYLLABLES for end in ("", "n", "s")]
_IN_GROUPS = {"codis": 2, "cogbench/vqa": 11, "multi": 2}  # questions about an image
_IMAGES = {"blink": 2, "journeybench/multi_image_vqa": 2}
_REFERENCES = {"journeybench/captioning": 5, "journeybench/hallucination_vqa": 3}
_NUMBERS = ("journeybench/mcot", "journeybench/multi_image_vqa")
_CATEGORIES = 14
_OF_MULTI: tuple[AnswerKind, ...] = ("choice", "choice", "choice", "choices", "blanks", "text")
_LABELS: Mapping[str, Mapping[str, str]] = {
    "blink": {"split": "val", "entry": "", "sub_task": ""},
    "multi": {
        "images": "SI",
        "level": "JuH",
        "subject": "\u6570\u5b66",
        "difficulty": "3",
        "quality": "3",
        "knowledge": "",
    },
}


def questions(task: Task, rng: np.random.Generator) -> list[Question]:
    """Draw as many questions of a task as were published."""
    return list(_questions(task.name, rng))


def _questions(task: str, rng: np.random.Generator) -> Iterator[Question]:
    for number in range(PUBLISHED[task]):
        group = number // _IN_GROUPS.get(task, 1)
        kind = _kind(task, number)
        options, answer = _answer(task, kind, rng)
        yield Question(
            question_id=f"{task}/czsx_{number}" if task == "multi" else f"{task}/{number}",
            task=task,
            edition="own",
            kind=kind,
            text=f"Which one is it: {_said(rng, 12)}?",
            answer=answer,
            options=options,
            images=tuple(_image(task, group, n) for n in range(_IMAGES.get(task, 1))),
            context=_said(rng, 20) if task == "codis" else "",
            category=f"part {int(rng.integers(_CATEGORIES))}",
            group_id=f"group {group}" if task in _IN_GROUPS else "",
            labels=_labels(task, rng),
        )


def _kind(task: str, number: int) -> AnswerKind:
    if task == "multi":
        return _OF_MULTI[number % len(_OF_MULTI)]
    return "choice" if task in ("blink", "cogbench/vqa") else "text"


def _answer(
    task: str, kind: AnswerKind, rng: np.random.Generator
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Options, and what is right."""
    if task == "codis":
        said = tuple(_said(rng, 2) for _ in range(2))
        return said, (said[int(rng.integers(2))],)
    if kind in ("choice", "choices"):
        right = sorted(rng.choice(4, 1 if kind == "choice" else 2, replace=False))
        return tuple(_said(rng, 3) for _ in range(4)), tuple("ABCD"[n] for n in right)
    if kind == "blanks":
        return (), tuple(str(n) for n in rng.integers(100, size=2))
    if task in _NUMBERS:
        return (), (str(rng.integers(1000)),)
    long = 80 if task == "cogbench/description" else 10
    return (), tuple(_said(rng, long) for _ in range(_REFERENCES.get(task, 1)))


def _labels(task: str, rng: np.random.Generator) -> Mapping[str, str]:
    if task != "cogbench/description":
        return _LABELS.get(task, {})
    entities = "\n".join(_said(rng, 1) for _ in range(8))
    return {"Entities": entities, "Event Reasoning": f"{_said(rng, 5)} -> {_said(rng, 5)}"}


def _image(task: str, group: int, number: int) -> str:
    return sha256(f"{task} {group} {number}".encode()).hexdigest()


def _said(rng: np.random.Generator, n: int) -> str:
    return " ".join(_WORDS[at] for at in rng.integers(len(_WORDS), size=n))
