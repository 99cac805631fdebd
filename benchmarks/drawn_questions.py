"""Random questions in the forms of the five suites, as many as the papers count."""

from collections.abc import Mapping
from hashlib import sha256
from itertools import product

import numpy as np

from bench_assets.core.schema.rows import AnswerKind, Question
from bench_assets.evaluation.task import Task

N_PUBLISHED = {
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
"""Task -> number of published questions."""

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
_WORDS = ["".join(parts) for parts in product(_SYLLABLES, _SYLLABLES, ("", "n", "s"))]
_QUESTIONS_PER_IMAGE = {"codis": 2, "cogbench/vqa": 11, "multi": 2}  # others: 1
_IMAGES_PER_QUESTION = {"blink": 2, "journeybench/multi_image_vqa": 2}  # others: 1
_N_REFERENCES = {"journeybench/captioning": 5, "journeybench/hallucination_vqa": 3}  # others: 1
_NUMERIC_TASKS = ("journeybench/mcot", "journeybench/multi_image_vqa")
_N_CATEGORIES = 14
_KINDS_OF_MULTI: tuple[AnswerKind, ...] = (
    *("choice", "choice", "choice", "choices", "blanks", "text"),
)
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


def draw_questions(task: Task, rng: np.random.Generator) -> list[Question]:
    """Draw as many questions of a task as were published."""
    name = task.name
    return [_draw_question(name, number, rng) for number in range(N_PUBLISHED[name])]


def _draw_question(task: str, number: int, rng: np.random.Generator) -> Question:
    group = number // _QUESTIONS_PER_IMAGE.get(task, 1)
    kind = _find_kind(task, number)
    options, answer = _draw_options_and_answer(task, kind, rng)
    return Question(
        question_id=f"{task}/czsx_{number}" if task == "multi" else f"{task}/{number}",
        task=task,
        edition="own",
        kind=kind,
        text=f"Which one is it: {_draw_words(rng, 12)}?",
        answer=answer,
        options=options,
        images=tuple(
            sha256(f"{task} {group} {position}".encode()).hexdigest()
            for position in range(_IMAGES_PER_QUESTION.get(task, 1))
        ),
        context=_draw_words(rng, 20) if task == "codis" else "",
        category=f"part {int(rng.integers(_N_CATEGORIES))}",
        group_id=f"group {group}" if task in _QUESTIONS_PER_IMAGE else "",
        labels=_draw_labels(task, rng),
    )


def _find_kind(task: str, number: int) -> AnswerKind:
    if task == "multi":
        return _KINDS_OF_MULTI[number % len(_KINDS_OF_MULTI)]
    return "choice" if task in ("blink", "cogbench/vqa") else "text"


def _draw_options_and_answer(
    task: str, kind: AnswerKind, rng: np.random.Generator
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if task == "codis":
        options = tuple(_draw_words(rng, 2) for _ in range(2))
        return options, (options[int(rng.integers(2))],)
    if kind in ("choice", "choices"):
        right = sorted(rng.choice(4, 1 if kind == "choice" else 2, replace=False))
        return tuple(_draw_words(rng, 3) for _ in range(4)), tuple("ABCD"[n] for n in right)
    if kind == "blanks":
        return (), tuple(str(number) for number in rng.integers(100, size=2))
    if task in _NUMERIC_TASKS:
        return (), (str(rng.integers(1000)),)
    n_words = 80 if task == "cogbench/description" else 10
    return (), tuple(_draw_words(rng, n_words) for _ in range(_N_REFERENCES.get(task, 1)))


def _draw_labels(task: str, rng: np.random.Generator) -> Mapping[str, str]:
    if task != "cogbench/description":
        return _LABELS.get(task, {})
    entities = "\n".join(_draw_words(rng, 1) for _ in range(8))
    reasoning = f"{_draw_words(rng, 5)} -> {_draw_words(rng, 5)}"
    return {"Entities": entities, "Event Reasoning": reasoning}


def _draw_words(rng: np.random.Generator, n_words: int) -> str:
    return " ".join(_WORDS[index] for index in rng.integers(len(_WORDS), size=n_words))
