"""The built route: from the raw data sets to one question table (section 3.2).

A source holds one folder for each task, as ``recipes`` names them, each laid out as the module of
the task in ``builders`` says.
"""

from collections import Counter
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

from bench_assets.blink.builders.draft import Candidates, Draft, Marks
from bench_assets.blink.builders.raw import read_picture
from bench_assets.blink.deal import deal_places, deal_splits, share_of
from bench_assets.blink.near_duplicates import UsedPictures, perceptual_hash
from bench_assets.blink.recipes import Parameters, recipes, task_rng, wanted
from bench_assets.core.errors import ImageError, SourceError
from bench_assets.core.rows import Question, Rejection, StoredImage

StoreImage: TypeAlias = Callable[[bytes, str], StoredImage]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What came of the raw data."""

    questions: list[Question]
    images: list[StoredImage]
    rejections: list[Rejection]  # of the entries looked at; those not reached have none


class _Numbered(NamedTuple):
    draft: Draft
    place: int
    split: str
    number: int


def build_all(
    folder: Path,
    store_image: StoreImage,
    *,
    edition: str,
    seed: int,
    parameters: Parameters,
) -> Built:
    """Build the questions of every task whose folder is there.

    No picture is used twice, whatever the task and the split; answer letters are balanced.

    Args:
        folder: The source.
        store_image: Keeps the bytes of a picture under a name for people; from several threads.
        edition: ``"built"`` or ``"mini"``.
        seed: Draws everything that is drawn; the same seed builds the same table.
        parameters: What the builders go by.

    Raises:
        SourceError: If no question comes of it, or raw data are not laid out as they should be.
    """
    built = Built(questions=[], images=[], rejections=[])
    used = UsedPictures(parameters.near_duplicate)
    for task, recipe in recipes(parameters).items():
        source = folder / recipe.folder
        if not source.is_dir():
            reason = f"no such folder: there are no questions of {task}"
            built.rejections.append(Rejection(entry=f"{recipe.folder}/", reason=reason))
            continue
        candidates = recipe.build(source, task_rng(seed, task))
        drafts = _take(task, candidates, wanted(task, parameters), used, built.rejections)
        _finish(task, drafts, seed, edition, store_image, built)
    if not built.questions:
        expected = ", ".join(recipe.folder for recipe in recipes(parameters).values())
        raise SourceError(f"{folder}: no questions came of it; folders it may hold: {expected}")
    return built


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


def _take(
    task: str,
    candidates: Candidates,
    count: int,
    used: UsedPictures,
    rejections: list[Rejection],
) -> list[Draft]:
    """Take that many drafts, if there are so many, and use up their pictures."""
    drafts: list[Draft] = []
    taken: Counter[tuple[int, ...]] = Counter()
    for candidate in candidates if count > 0 else ():
        if isinstance(candidate, Rejection):
            rejections.append(replace(candidate, entry=f"{task}: {candidate.entry}"))
            continue
        hashes, fault = _looked_at(candidate)
        if taken[candidate.places] >= share_of(candidate, count):
            fault = "there are enough questions with this answer"
        elif not fault and (twin := used.like(hashes)):
            fault = f"a picture looks like one of {twin}"
        if fault:
            rejections.append(Rejection(entry=f"{task}: {candidate.entry}", reason=fault))
            continue
        taken[candidate.places] += 1
        used.add(hashes, f"{task}: {candidate.entry}")
        drafts.append(candidate)
        if len(drafts) == count:
            break
    return drafts


def _looked_at(draft: Draft) -> tuple[list[int], str]:
    """Hash the pictures of a draft; with that, what is wrong with one of them, or nothing."""
    hashes: list[int] = []
    for file in draft.originals:
        try:
            picture = read_picture(file)
        except ImageError as why:
            return hashes, str(why)
        for x, y in draft.points.get(file, ()):
            if not (0 <= x <= picture.width and 0 <= y <= picture.height):
                size = f"{picture.width} x {picture.height} px"
                return hashes, f"point ({x:g}, {y:g}) lies outside {file.name}, {size}"
        hashes.append(perceptual_hash(picture))
    return hashes, ""


def _finish(
    task: str, drafts: list[Draft], seed: int, edition: str, store_image: StoreImage, built: Built
) -> None:
    rng = task_rng(seed, task, "places")
    places = deal_places(drafts, rng)
    splits = deal_splits(places, rng)
    numbered = sorted(
        (
            _Numbered(draft, place, split, number)
            for draft, place, (split, number) in zip(drafts, places, splits, strict=True)
        ),
        key=lambda one: (one.split == "test", one.number),
    )
    with ThreadPoolExecutor() as pool:  # scaling and encoding pictures takes most of the time
        finished = pool.map(lambda one: _question(task, one, edition, store_image), numbered)
        for question, images in finished:
            built.questions.append(question)
            built.images.extend(images)


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


def _question(
    task: str, one: _Numbered, edition: str, store_image: StoreImage
) -> tuple[Question, list[StoredImage]]:
    shown = one.draft.show(one.place, one.draft.marks)
    name = f"{one.split}_{task}_{one.number}"
    images = [store_image(data, f"{name}_{nth}") for nth, data in enumerate(shown.pictures, 1)]
    question = Question(
        question_id=f"blink/{name}",
        task="blink",
        edition=edition,
        kind="choice",
        text=shown.asked.question,
        context=shown.prompt,
        answer=(ascii_uppercase[one.place],),
        images=tuple(image.sha256 for image in images),
        options=shown.options,
        category=task,
        labels={"split": one.split, "sub_task": task, "entry": one.draft.entry, **one.draft.labels},
    )
    return question, images
