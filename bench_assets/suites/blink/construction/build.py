"""The built route: from the raw data sets to one question table (section 3.2).

A source holds one folder for each task, as ``recipes`` names them, each laid out as the module of
the task in ``builders`` says.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

from bench_assets.core.images.near_duplicates import image_hash
from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import Edition, Question, Rejection, StoredImage
from bench_assets.suites.blink.construction.recipes import (
    BuilderParameters,
    recipes,
    task_rng,
    wanted,
)
from bench_assets.suites.blink.construction.sampling import (
    UsedImages,
    deal_places,
    deal_splits,
    share_of,
)
from bench_assets.suites.blink.dataset.draft import Candidates, Draft
from bench_assets.suites.blink.raw_formats.image_folders import read_image

StoreImage: TypeAlias = Callable[[bytes, str], StoredImage]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBuildResult:
    """What came of one task's raw data: wanted against built."""

    task: str
    folder: str  # of its raw data, below the source
    wanted: int
    built: int
    refused: int  # of the entries that were looked at
    fault: str  # why there are none at all, where the data set itself is at fault


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """What came of the raw data."""

    questions: list[Question]
    rejections: list[Rejection]  # of the entries looked at; those not reached have none
    tasks: list[TaskBuildResult]  # all fourteen


class _NumberedDraft(NamedTuple):
    draft: Draft
    place: int
    split: str
    number: int


_Draw: TypeAlias = Callable[[_NumberedDraft], Question]


def build_all(
    folder: Path,
    store_image: StoreImage,
    *,
    edition: Edition,
    seed: int,
    parameters: BuilderParameters,
) -> BuildResult:
    """Build the questions of every task whose folder is there.

    No image is used twice, whatever the task and the split; answer letters are balanced. A data
    set that is missing, or not laid out as it should be, costs its own task and no other.

    Args:
        folder: The source.
        store_image: Keeps the bytes of an image under a name for people; from several threads.
        edition: ``"built"`` or ``"mini"``.
        seed: Draws everything that is drawn; the same seed builds the same table.
        parameters: What the builders go by.

    Raises:
        SourceError: If no question comes of it; says what is at fault with each data set.
    """
    built = BuildResult(questions=[], rejections=[], tasks=[])
    used = UsedImages(parameters.near_duplicate)
    for task in recipes(parameters):
        drafts, rejections, outcome = _drafts(folder, task, parameters, seed, used)
        draw = partial(
            _question, task=task, edition=edition, store_image=store_image, height=parameters.height
        )
        built.questions.extend(_finish(task, drafts, seed, draw))
        built.rejections.extend(rejections)
        built.tasks.append(outcome)
    if not built.questions:
        raise _nothing(folder, parameters, built.tasks)
    return built


def _nothing(
    folder: Path, parameters: BuilderParameters, tasks: Sequence[TaskBuildResult]
) -> SourceError:
    expected = ", ".join(recipe.folder for recipe in recipes(parameters).values())
    faults = "".join(f"; {one.fault}" for one in tasks if (folder / one.folder).is_dir())
    return SourceError(
        f"{folder}: no questions came of it; folders it may hold: {expected}{faults}"
    )


def _drafts(
    folder: Path, task: str, parameters: BuilderParameters, seed: int, used: UsedImages
) -> tuple[list[Draft], list[Rejection], TaskBuildResult]:
    """Take a task's drafts; with that, what was refused, and what came of it all."""
    recipe, count = recipes(parameters)[task], wanted(task, parameters)
    source = folder / recipe.folder
    drafts, rejections, fault = list[Draft](), list[Rejection](), ""
    before = used.copy()
    try:
        if source.is_dir():
            drafts = _take(
                task, recipe.build(source, task_rng(seed, task)), count, used, rejections
            )
        else:
            fault = f"no such folder: there are no questions of {task}"
    except SourceError as why:
        used.go_back_to(before)
        fault = f"there are no questions of {task}: {why}"
    outcome = TaskBuildResult(
        task=task,
        folder=recipe.folder,
        wanted=count,
        built=len(drafts),
        refused=len(rejections),
        fault=fault,
    )
    at_fault = [Rejection(entry=f"{recipe.folder}/", reason=fault)] if fault else []
    return drafts, at_fault + rejections, outcome


def _take(
    task: str,
    candidates: Candidates,
    count: int,
    used: UsedImages,
    rejections: list[Rejection],
) -> list[Draft]:
    """Take that many drafts, if there are so many, and use up their images."""
    drafts: list[Draft] = []
    taken: Counter[tuple[int, ...]] = Counter()
    for candidate in candidates if count > 0 else ():
        if isinstance(candidate, Rejection):
            rejections.append(replace(candidate, entry=f"{task}: {candidate.entry}"))
            continue
        hashes, fault = _looked_at(candidate)
        if taken[candidate.places] >= share_of(candidate, count):
            fault = "there are enough questions with this answer"
        elif not fault and (twin := used.like(hashes, candidate.scene)):
            fault = f"an image looks like one of {twin}"
        if fault:
            rejections.append(Rejection(entry=f"{task}: {candidate.entry}", reason=fault))
            continue
        taken[candidate.places] += 1
        used.add(hashes, f"{task}: {candidate.entry}", candidate.scene)
        drafts.append(candidate)
        if len(drafts) == count:
            break
    return drafts


def _looked_at(draft: Draft) -> tuple[list[int], str]:
    """Hash the images of a draft; with that, what is wrong with one of them, or nothing."""
    hashes: list[int] = []
    for file in draft.originals:
        try:
            image = read_image(file)
        except ImageError as why:
            return hashes, str(why)
        for x, y in draft.points.get(file, ()):
            if not (0 <= x <= image.width and 0 <= y <= image.height):
                size = f"{image.width} x {image.height} px"
                return hashes, f"point ({x:g}, {y:g}) lies outside {file.name}, {size}"
        hashes.append(int(image_hash(image), 16))
    return hashes, ""


def _finish(task: str, drafts: list[Draft], seed: int, draw: _Draw) -> Iterator[Question]:
    """Deal places, splits and numbers, and draw what the questions show."""
    rng = task_rng(seed, task, "places")
    places = deal_places(drafts, rng)
    splits = deal_splits(places, rng)
    numbered = sorted(
        (
            _NumberedDraft(draft, place, split, number)
            for draft, place, (split, number) in zip(drafts, places, splits, strict=True)
        ),
        key=lambda one: (one.split == "test", one.number),
    )
    with ThreadPoolExecutor() as pool:  # scaling and encoding images takes most of the time
        yield from pool.map(draw, numbered)


def _question(
    one: _NumberedDraft, task: str, edition: Edition, store_image: StoreImage, height: int
) -> Question:
    shown = one.draft.show(one.place, replace(one.draft.marks, height=height))
    name = f"{one.split}_{task}_{one.number}"
    images = [store_image(data, f"{name}_{nth}") for nth, data in enumerate(shown.images, 1)]
    return Question(
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
