"""Circle ablation: the same questions with circles of other sizes and colours (Figure 7)."""

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question
from bench_assets.suites.blink.builders.drafts import Draft, Marks
from bench_assets.suites.blink.construction.build import StoreImage
from bench_assets.suites.blink.construction.recipes import BuilderParameters, recipes, task_rng

STUDIED = ("Relative_Depth", "Relative_Reflectance", "Visual_Correspondence")
N_QUESTIONS = 100
"""Validation questions per task."""


class Circles(NamedTuple):
    """Appearance of a question's circles."""

    radius: int  # px, on images 1024 px high
    colour: str

    @property
    def name(self) -> str:
        """Name in tables: ``10 px red``."""
        return f"{self.radius} px {self.colour}"


ALL_CIRCLES = tuple(Circles(*drawn) for drawn in product((5, 10, 15), ("red", "gray")))


def sample_questions(questions: Iterable[Question], seed: int) -> list[Question]:
    """Sample the study's validation questions, up to 100 per task, in their order."""
    by_task: dict[str, list[Question]] = {task: [] for task in STUDIED}
    for question in questions:
        if question.category in by_task and question.labels["split"] == "val":
            by_task[question.category].append(question)
    return [
        question
        for task, all_of_task in by_task.items()
        for sampled in [
            random.Random(f"{seed}\n{task}\ncircles").sample(
                range(len(all_of_task)), min(N_QUESTIONS, len(all_of_task))
            )
        ]
        for question in [all_of_task[number] for number in sorted(sampled)]
    ]


def label_variants(questions: Sequence[Question], circles: Circles) -> list[Question]:
    """Label questions with their circles; all variants of a question share a ``group_id``."""
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
    circles = question.labels.get("circles")
    task = question.category
    return (task, circles, f"{task}, {circles}") if circles else (task,)


def redraw_prompts(
    folders: Sequence[Path],
    questions: Collection[Question],
    marks: Marks,
    store_image: StoreImage,
    *,
    seed: int,
    parameters: BuilderParameters,
) -> list[Question]:
    """Redraw the visual prompts of questions of the built route (section 4.3).

    Args:
        folders: The sources that the questions were built from, in the same order.
        questions: Of any tasks; their answers are unchanged.
        marks: Appearance of the new visual prompts.
        store_image: As for ``build_all``.
        seed: Seed that the questions were built with.
        parameters: Parameters that the questions were built with.

    Raises:
        SourceError: If a question cannot be rebuilt from the folders.
    """
    remaining = {(question.category, question.labels["entry"]): question for question in questions}
    redrawn: dict[str, Question] = {}
    for task in dict.fromkeys(question.category for question in questions):
        recipe, rng = recipes(parameters)[task], task_rng(seed, task)
        for draft in recipe.candidates(folders, rng):
            if isinstance(draft, Draft) and (question := remaining.pop((task, draft.entry), None)):
                redrawn[question.question_id] = _redraw_question(
                    question, draft, marks, store_image
                )
    if remaining:
        examples = ", ".join(sorted(question.question_id for question in remaining.values())[:5])
        raise SourceError(
            f"{folders[0]}: {len(remaining)} questions were not built from it, such as {examples}"
        )
    return [redrawn[question.question_id] for question in questions]


def _redraw_question(
    question: Question, draft: Draft, marks: Marks, store_image: StoreImage
) -> Question:
    view = draft.show(ascii_uppercase.index(question.answer[0]), marks)
    images = [store_image(data, question.question_id) for data in view.images]
    return replace(
        question,
        text=view.asked.question,
        context=view.prompt,
        images=tuple(image.sha256 for image in images),
    )
