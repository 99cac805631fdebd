"""Draws questions of the built route again, with other visual prompts (section 4.3, Figure 7)."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase

from bench_assets.core.errors import SourceError
from bench_assets.core.rows import Question
from bench_assets.suites.blink.build import StoreImage
from bench_assets.suites.blink.builders.draft import Draft, Marks
from bench_assets.suites.blink.recipes import Parameters, recipes, task_rng


def draw_again(
    folder: Path,
    questions: Collection[Question],
    marks: Marks,
    store_image: StoreImage,
    *,
    seed: int,
    parameters: Parameters,
) -> list[Question]:
    """Draw the visual prompts of questions of the built route in another way (section 4.3).

    Args:
        folder: The source they were built from.
        questions: Those to draw again, of any tasks; their answers stay as they are.
        marks: How to draw.
        store_image: As for ``build_all``.
        seed: The one they were built with.
        parameters: Those they were built with.

    Raises:
        SourceError: If a question is not found among what can be built from the folder.
    """
    left = {(question.category, question.labels["entry"]): question for question in questions}
    drawn: dict[str, Question] = {}
    for task in dict.fromkeys(question.category for question in questions):
        recipe = recipes(parameters)[task]
        for draft in recipe.build(folder / recipe.folder, task_rng(seed, task)):
            if isinstance(draft, Draft) and (question := left.pop((task, draft.entry), None)):
                drawn[question.question_id] = _drawn_again(question, draft, marks, store_image)
    if left:
        lost = ", ".join(sorted(question.question_id for question in left.values())[:5])
        raise SourceError(f"{folder}: {len(left)} questions were not built from it, such as {lost}")
    return [drawn[question.question_id] for question in questions]


def _drawn_again(
    question: Question, draft: Draft, marks: Marks, store_image: StoreImage
) -> Question:
    shown = draft.show(ascii_uppercase.index(question.answer[0]), marks)
    images = [store_image(data, question.question_id) for data in shown.pictures]
    return replace(
        question,
        text=shown.asked.question,
        context=shown.prompt,
        images=tuple(image.sha256 for image in images),
    )
