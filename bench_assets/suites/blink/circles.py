"""The study of circles: the same questions with circles of other sizes and colours (Figure 7)."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from bench_assets.core.rows import Question

STUDIED = ("Relative_Depth", "Relative_Reflectance", "Visual_Correspondence")
N_QUESTIONS = 100
"""Validation questions a task."""


class Circles(NamedTuple):
    """How the circles of a question are drawn."""

    radius: int  # px, on pictures 1024 px high
    colour: str

    @property
    def name(self) -> str:
        """What tables call them: ``10 px red``."""
        return f"{self.radius} px {self.colour}"


ALL_CIRCLES = tuple(Circles(*drawn) for drawn in product((5, 10, 15), ("red", "gray")))


def choose(questions: Iterable[Question], seed: int) -> list[Question]:
    """Draw the validation questions of the study, up to 100 a task; keeps their order."""
    by_task: dict[str, list[Question]] = {task: [] for task in STUDIED}
    for question in questions:
        if question.category in by_task and question.labels["split"] == "val":
            by_task[question.category].append(question)
    return [
        one
        for task, all_of_task in by_task.items()
        for drawn in [
            random.Random(f"{seed}\n{task}\ncircles").sample(
                range(len(all_of_task)), min(N_QUESTIONS, len(all_of_task))
            )
        ]
        for one in [all_of_task[number] for number in sorted(drawn)]
    ]


def as_variants(questions: Sequence[Question], circles: Circles) -> list[Question]:
    """Name questions after the way their circles are drawn; all ways of one are a group."""
    return [
        replace(
            question,
            question_id=f"{question.question_id}/{circles.radius}px_{circles.colour}",
            group_id=question.question_id,
            labels={**question.labels, "circles": circles.name},
        )
        for question in questions
    ]


def slices(question: Question) -> tuple[str, ...]:
    """Slice by perception task and, in the study, by size and colour of the circles."""
    drawn = question.labels.get("circles")
    task = question.category
    return (task, drawn, f"{task}, {drawn}") if drawn else (task,)
