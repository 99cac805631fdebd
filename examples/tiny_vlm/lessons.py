"""Questions of the mini editions, as the suites themselves ask them, and the responses to learn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from string import ascii_uppercase
from tempfile import TemporaryDirectory

from PIL import Image

from bench_assets.core.images.decoding import decode
from bench_assets.core.schema.rows import Question
from bench_assets.suites.blink.builders.drafts import Draft
from bench_assets.suites.blink.construction.recipes import BuilderParameters, recipes
from bench_assets.suites.blink.synthetic import objects as mini_objects
from bench_assets.suites.blink.synthetic import surfaces as mini_light

TASKS = {
    "Counting": mini_objects.counted,
    "Spatial_Relation": mini_objects.claims,
    "Relative_Depth": mini_objects.things_at_depths,
    "Relative_Reflectance": mini_light.shaded_walls,
    "Object_Localization": mini_objects.boxed,
}
"""The tasks of BLINK that are taught, and who draws their raw material."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as a model reads it, and the response that is right."""

    prompt: str
    response: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A question of BLINK's mini edition, built from raw material as the suite builds it."""

    question: Question
    data: bytes  # the image as a file


def blink_questions(task: str, seed: int, n: int) -> Iterator[Drawn]:
    """Draw raw material of a task, build its questions, and draw the right option's place."""
    rng = Random(f"{seed}\n{task}")
    recipe = recipes(BuilderParameters())[task]
    with TemporaryDirectory() as folder:
        for path, data in TASKS[task](rng, n).items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_bytes(data)
        for draft in recipe.build(Path(folder), rng):
            if isinstance(draft, Draft):
                yield _drawn(task, draft, rng.choice(draft.places))


def chosen(question: Question) -> str:
    """Write the response that is learned for a choice: first the option, then its letter.

    To count and then to look up a letter are two short steps, sooner learned than a long one.
    """
    return response_for(question.options, ascii_uppercase.index(question.answer[0]))


def response_for(options: Sequence[str], place: int) -> str:
    """Write the response that chooses the option in that place.

    >>> response_for(("yes", "no"), 1)
    'no. (B)'
    """
    return f"{options[place]}. ({ascii_uppercase[place]})"


def decoded(data: bytes) -> Image.Image:
    """Open the image in a file."""
    return decode(data).image


def _drawn(task: str, draft: Draft, place: int) -> Drawn:
    shown = draft.show(place, draft.marks)
    question = Question(
        question_id=f"blink/{task}/{draft.entry}",
        task="blink",
        edition="mini",
        kind="choice",
        text=shown.asked.question,
        context=shown.prompt,
        answer=(ascii_uppercase[place],),
        options=shown.options,
        category=task,
    )
    return Drawn(question, shown.images[0])
