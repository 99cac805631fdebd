"""The built route: from the raw data sets to one question table (section 3.2).

A source has one folder per task, named in ``recipes``; the task's module in ``builders`` documents
its layout. Places of the right option and splits are balanced over the answer letters. Every image
is used once, across tasks and splits.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from math import ceil
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

import numpy as np

from bench_assets.core.images.near_duplicates import image_hash
from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import Edition, Question, Rejection, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.suites.blink.builders.drafts import Candidates, Draft
from bench_assets.suites.blink.builders.raw_files import read_image
from bench_assets.suites.blink.construction.recipes import (
    BuilderParameters,
    n_questions,
    recipes,
    task_rng,
)

StoreImage: TypeAlias = Callable[[bytes, str], StoredImage]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBuildResult:
    """Questions of one task: wanted against built."""

    task: str
    folder: str  # of its raw data, below the source
    wanted: int
    built: int
    refused: int  # rejected entries, of those that were read
    fault: str  # why there are no questions; "" if there are


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildResult:
    """Questions and rejections of all tasks."""

    questions: list[Question]
    rejections: list[Rejection]  # of the entries that were read
    tasks: list[TaskBuildResult]  # all fourteen


class _NumberedDraft(NamedTuple):
    draft: Draft
    place: int
    split: str
    number: int


class _UsedImage(NamedTuple):
    hash: int
    name: str
    scene: str


class UsedImages:
    """Perceptual hashes of the images that questions already use."""

    def __init__(self, near: int) -> None:
        self._near = near
        self._used: list[_UsedImage] = []

    def like(self, hashes: Sequence[int], scene: str = "") -> str | None:
        """Name the entry that uses a near-duplicate of one of these images; None if there is none.

        Images of the same named scene are not compared: they are other views of it.
        """
        candidates = [used for used in self._used if not scene or used.scene != scene]
        used = np.array([used.hash for used in candidates], np.uint64)
        for digest in hashes:
            bits = np.bitwise_count(used ^ np.uint64(digest))
            if bits.size and bits.min() <= self._near:
                return candidates[int(bits.argmin())].name
        return None

    def add(self, hashes: Sequence[int], name: str, scene: str = "") -> None:
        """Record the images that the entry of that name uses."""
        self._used += [_UsedImage(digest, name, scene) for digest in hashes]


_Draw: TypeAlias = Callable[[_NumberedDraft], Question]


def build_all(
    folder: Path,
    store_image: StoreImage,
    *,
    edition: Edition,
    seed: int,
    parameters: BuilderParameters,
    added: Path | None = None,
) -> BuildResult:
    """Build the questions of every task that has a folder.

    Invalid rows are rejected. A data set that is missing or has another layout affects only its own
    task.

    Args:
        folder: The source.
        store_image: Stores the bytes of an image under a name; called from several threads.
        edition: ``"built"`` or ``"mini"``.
        seed: The same seed builds the same table.
        parameters: Of all builders.
        added: A second source; its data sets are read after those of the first.

    Raises:
        SourceError: If no question can be built; names the fault of each data set.
    """
    built = BuildResult(questions=[], rejections=[], tasks=[])
    folders = [folder, added] if added else [folder]
    used = UsedImages(parameters.near_duplicate)
    for task in recipes(parameters):
        drafts, outcome = _drafts(folders, task, parameters, seed, used)
        draw = partial(
            _question, task=task, edition=edition, store_image=store_image, height=parameters.height
        )
        built.questions.extend(_finish_questions(task, drafts.rows, seed, draw))
        built.rejections.extend(drafts.rejections)
        built.tasks.append(outcome)
    if not built.questions:
        raise _no_questions(folder, parameters, built.tasks)
    return built


def _no_questions(
    folder: Path, parameters: BuilderParameters, tasks: Sequence[TaskBuildResult]
) -> SourceError:
    expected = ", ".join(recipe.folder for recipe in recipes(parameters).values())
    faults = "".join(f"; {task.fault}" for task in tasks if (folder / task.folder).is_dir())
    return SourceError(f"{folder}: no questions can be built; expected folders: {expected}{faults}")


def _drafts(
    folders: Sequence[Path],
    task: str,
    parameters: BuilderParameters,
    seed: int,
    used: UsedImages,
) -> tuple[Table[Draft], TaskBuildResult]:
    """Collect the drafts and rejections of a task, and count both."""
    recipe, count = recipes(parameters)[task], n_questions(task, parameters)
    taken, fault = Table[Draft](), ""
    try:
        drafts = recipe.candidates(folders, task_rng(seed, task))
        if count > 0:
            for candidate in _take_drafts(task, drafts, count, used):
                if isinstance(candidate, Rejection):
                    taken.rejections.append(candidate)
                else:
                    taken.rows.append(candidate)
            if not taken.rows:
                fault = _no_drafts_reason(taken.rejections)
    except SourceError as error:
        taken.rows.clear()
        fault = str(error)
    if fault:
        fault = f"no questions of {task}: {fault}"
    outcome = TaskBuildResult(
        task=task,
        folder=recipe.folder,
        wanted=count,
        built=len(taken.rows),
        refused=len(taken.rejections),
        fault=fault,
    )
    at_fault = [Rejection(entry=f"{recipe.folder}/", reason=fault)] if fault else []
    return Table(taken.rows, at_fault + taken.rejections), outcome


def _no_drafts_reason(rejections: Sequence[Rejection]) -> str:
    if not rejections:
        return "its raw data have no entries"
    return f"all {len(rejections)} entries are rejected, the first: {rejections[0].reason}"


def _take_drafts(
    task: str,
    candidates: Candidates,
    count: int,
    used: UsedImages,
) -> Iterator[Draft | Rejection]:
    """Yield up to ``count`` usable drafts, and rejections of other candidates before the last."""
    n = 0
    taken: Counter[tuple[int, ...]] = Counter()
    for candidate in candidates:
        entry, fault = f"{task}: {candidate.entry}", ""
        if isinstance(candidate, Rejection):
            yield Rejection(entry=entry, reason=candidate.reason)
            continue
        try:
            hashes = _image_hashes(candidate)
            if twin := used.like(hashes, candidate.scene):
                fault = f"an image looks like one of {twin}"
        except ImageError as error:
            fault = str(error)
        if taken[candidate.places] >= max_questions(candidate, count):
            fault = "there are enough questions with this answer"
        if fault:
            yield Rejection(entry=entry, reason=fault)
            continue
        taken[candidate.places] += 1
        used.add(hashes, entry, candidate.scene)
        yield candidate
        n += 1
        if n == count:
            return


def _image_hashes(draft: Draft) -> list[int]:
    """Hash the images of a draft.

    Raises:
        ImageError: If one does not decode, or a point lies outside it.
    """
    hashes: list[int] = []
    for file in draft.originals:
        image = read_image(file)
        for x, y in draft.points.get(file, ()):
            if not (0 <= x <= image.width and 0 <= y <= image.height):
                size = f"{image.width} x {image.height} px"
                raise ImageError(f"point ({x:g}, {y:g}) lies outside {file.name}, {size}")
        hashes.append(int(image_hash(image), 16))
    return hashes


def _finish_questions(task: str, drafts: list[Draft], seed: int, draw: _Draw) -> Iterator[Question]:
    """Assign places, splits and numbers, and draw the images."""
    rng = task_rng(seed, task, "places")
    places = deal_places(drafts, rng)
    splits = deal_splits(places, rng)
    numbered = sorted(
        (
            _NumberedDraft(draft, position, split, number)
            for draft, position, (split, number) in zip(drafts, places, splits, strict=True)
        ),
        key=lambda one: (one.split == "test", one.number),
    )
    with ThreadPoolExecutor() as pool:  # most of the time goes into scaling and encoding images
        yield from pool.map(draw, numbered)


def _question(
    one: _NumberedDraft, task: str, edition: Edition, store_image: StoreImage, height: int
) -> Question:
    view = one.draft.show(one.place, replace(one.draft.marks, height=height))
    name = f"{one.split}_{task}_{one.number}"
    images = [store_image(data, f"{name}_{nth}") for nth, data in enumerate(view.images, 1)]
    return Question(
        question_id=f"blink/{name}",
        task="blink",
        edition=edition,
        kind="choice",
        text=view.asked.question,
        context=view.prompt,
        answer=(ascii_uppercase[one.place],),
        images=tuple(image.sha256 for image in images),
        options=view.options,
        category=task,
        labels={"split": one.split, "sub_task": task, "entry": one.draft.entry, **one.draft.labels},
    )


def max_questions(draft: Draft, wanted: int) -> int:
    """Most questions that may have exactly these places, so that letters are balanced.

    It limits only drafts whose place the data fix, such as yes and no.
    """
    return ceil(wanted * len(draft.places) / draft.n_options)


def deal_places(drafts: Sequence[Draft], rng: Random) -> list[int]:
    """Assign each draft's right option a place, with letters balanced as far as possible."""
    used: Counter[int] = Counter()
    places: dict[int, int] = {}
    for nth in sorted(range(len(drafts)), key=lambda nth: len(drafts[nth].places)):
        free = drafts[nth].places
        fewest = min(used[position] for position in free)
        places[nth] = rng.choice([position for position in free if used[position] == fewest])
        used[places[nth]] += 1
    return [places[nth] for nth in range(len(drafts))]


def deal_splits(places: Sequence[int], rng: Random) -> list[tuple[str, int]]:
    """Assign each question its split and number, with letters halved evenly.

    Numbers are independent of the letters.
    """
    order = rng.sample(range(len(places)), len(places))
    by_letter = sorted(order, key=lambda nth: places[nth])
    splits = {nth: ("val", "test")[turn % 2] for turn, nth in enumerate(by_letter)}
    numbers: dict[str, Iterator[int]] = {"val": count(1), "test": count(1)}
    numbered = {nth: (splits[nth], next(numbers[splits[nth]])) for nth in order}
    return [numbered[nth] for nth in range(len(places))]
