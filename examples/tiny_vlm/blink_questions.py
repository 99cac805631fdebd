"""Questions of BLINK's mini edition, built of other seeds as the suite builds them."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench_assets.suites.blink.builders.drafts import Draft
from bench_assets.suites.blink.construction.recipes import BuilderParameters, recipes
from bench_assets.suites.blink.prompts import main
from bench_assets.suites.blink.synthetic.edition import material
from examples.tiny_vlm.lessons import Asked, decoded, plain_question, text_of
from examples.tiny_vlm.views import View


def blink_questions(task: str, seed: int) -> Iterator[View]:
    """Draw a task's raw material of a seed, build its questions, and draw the right places."""
    recipe, rng = recipes(BuilderParameters())[task], Random(f"{seed} {task}")
    with TemporaryDirectory() as folder:
        for path, data in material(recipe.folder, seed).items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_bytes(data)
        for draft in recipe.build(Path(folder), rng):
            if isinstance(draft, Draft):
                yield _view(task, draft, rng.choice(draft.places))


def _view(task: str, draft: Draft, place: int) -> View:
    shown = draft.show(place, draft.marks)
    question = plain_question(
        shown.asked.question, *shown.options, category=task, context=shown.prompt
    )
    images = [decoded(data) for data in shown.images]
    asked = Asked(text_of(main(question)), shown.options[place])
    return View([{} for _ in images], [asked], lambda: images)
