"""The built route: from the raw data sets to one question table (section 3.2).

A source has one folder per task, named in ``recipes``; the task's module in ``builders`` documents
its layout. A task's proposals and its drawn questions depend on its own raw data alone. ``choose``
lies between them: it decides which proposals become questions, over all tasks, since every image is
used once, across tasks and splits. Places of the right option and splits are balanced over the
answer letters.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import ceil
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import NamedTuple, TypeAlias

import numpy as np

from bench_assets.core.images.near_duplicates import image_hash
from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import Edition, Question, Rejection, StoredImage
from bench_assets.suites.blink.builders.drafts import Draft
from bench_assets.suites.blink.builders.raw_files import read_image
from bench_assets.suites.blink.construction.recipes import (
    RECIPES,
    BuilderParameters,
    n_questions,
    task_rng,
)

StoreImage: TypeAlias = Callable[[bytes, str], StoredImage]

_RESERVE = 2  # proposals per question: as many as are left if other tasks use half of the images


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionProposal:
    """What a builder makes of one entry of its raw data: points, and places of the right option."""

    task: str
    number: int  # in the builder's order, from 1; 0: the data set itself is at fault
    entry: str
    reason: str  # why it can be no question; "" if it can
    places: tuple[int, ...] = ()  # possible places of the right option; none of a rejected entry
    n_options: int = 0
    points: tuple[str, ...] = ()  # "FILE: X Y", px of the upright image; of a box, two corners
    hashes: tuple[str, ...] = ()  # perceptual hashes of its images
    scene: str = ""  # shared with other proposals whose images may look alike


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskBuildResult:
    """Questions of one task: wanted against built."""

    task: str
    folder: str  # of its raw data, below the source
    wanted: int
    built: int
    refused: int  # rejected entries, of those that were read
    fault: str  # why there are no questions; "" if there are
    taken: tuple[int, ...] = ()  # numbers of the proposals that become questions


class Choice(NamedTuple):
    """What becomes of the proposals of one task."""

    result: TaskBuildResult
    rejections: list[Rejection]


class _NumberedDraft(NamedTuple):
    draft: Draft
    place: int  # of the right option
    split: str
    number: int  # within the split, from 1


class _UsedImage(NamedTuple):
    hash: int
    entry: str
    scene: str


class UsedImages:
    """Perceptual hashes of the images that questions already use."""

    def __init__(self, max_bits: int) -> None:
        self._max_bits = max_bits  # in which the hashes of near-duplicates differ
        self._images: list[_UsedImage] = []

    def near_duplicate(self, hashes: Sequence[int], scene: str = "") -> str | None:
        """Name the entry that uses a near-duplicate of one of these images; None if there is none.

        Images of the same named scene are not compared: they are other views of it.
        """
        images = [image for image in self._images if not scene or image.scene != scene]
        used_hashes = np.array([image.hash for image in images], np.uint64)
        for digest in hashes:
            differing_bits = np.bitwise_count(used_hashes ^ np.uint64(digest))
            if images and differing_bits.min() <= self._max_bits:
                return images[int(differing_bits.argmin())].entry
        return None

    def add(self, hashes: Sequence[int], entry: str, scene: str = "") -> None:
        """Record the images that an entry uses."""
        self._images += [_UsedImage(hash=digest, entry=entry, scene=scene) for digest in hashes]


def no_questions_error(folder: Path, results: Sequence[TaskBuildResult]) -> SourceError:
    """Return the error of a source without questions, with the faults of its data sets."""
    expected = ", ".join(result.folder for result in results)
    faults = "".join(f"; {result.fault}" for result in results if (folder / result.folder).is_dir())
    return SourceError(f"{folder}: no questions can be built; expected folders: {expected}{faults}")


def propose(
    folders: Sequence[Path], task: str, seed: int, parameters: BuilderParameters
) -> list[QuestionProposal]:
    """Propose up to ``_RESERVE`` times as many questions of a task as are needed, in random order.

    Rejected entries are among them. A data set that is missing or has another layout is a proposal
    with the number 0, followed by rejected entries only.
    """
    recipe, n_wanted = RECIPES[task], n_questions(task, parameters)
    proposals: list[QuestionProposal] = []
    try:
        candidates = enumerate(recipe.candidates(folders, task_rng(seed, task)), 1)
        rows = (_to_proposal(task, number, candidate) for number, candidate in candidates)
        used = UsedImages(parameters.near_duplicate)
        for proposal, _ in _take(rows, _RESERVE * n_wanted, used):
            proposals.append(proposal)
    except SourceError as error:
        fault = QuestionProposal(task=task, number=0, entry=f"{recipe.folder}/", reason=str(error))
        return [fault, *(proposal for proposal in proposals if proposal.reason)]
    return proposals


def choose(
    proposals: Iterable[QuestionProposal], parameters: BuilderParameters
) -> dict[str, Choice]:
    """Choose the proposals of each task that become questions, task by task.

    Proposals are rejected if an image is a near-duplicate of one already used, or if there are
    enough questions with their answer. The proposals of each task must be in their order.
    """
    by_task: dict[str, list[QuestionProposal]] = {task: [] for task in RECIPES}
    for proposal in proposals:
        by_task[proposal.task].append(proposal)
    used = UsedImages(parameters.near_duplicate)
    return {
        task: _choose_for_task(task, task_proposals, parameters, used)
        for task, task_proposals in by_task.items()
    }


def _choose_for_task(
    task: str,
    proposals: Sequence[QuestionProposal],
    parameters: BuilderParameters,
    used: UsedImages,
) -> Choice:
    """Choose the proposals of a task that become questions; their images are added to ``used``."""
    wanted, folder = n_questions(task, parameters), RECIPES[task].folder
    faults = [proposal.reason for proposal in proposals if not proposal.number]
    entries = [proposal for proposal in proposals if proposal.number]
    decisions = list(_take(entries, wanted, used))
    taken = tuple(proposal.number for proposal, reason in decisions if not reason)
    rejections = [
        Rejection(entry=f"{task}: {proposal.entry}", reason=reason)
        for proposal, reason in decisions
        if reason
    ]
    if wanted > 0 and not taken and not faults:
        faults = [_no_drafts_reason(rejections)]
    fault = f"no questions of {task}: {faults[0]}" if faults else ""
    result = TaskBuildResult(
        task=task,
        folder=folder,
        wanted=wanted,
        built=len(taken),
        refused=len(rejections),
        fault=fault,
        taken=taken,
    )
    if fault:
        rejections = [Rejection(entry=f"{folder}/", reason=fault), *rejections]
    return Choice(result, rejections)


def _no_drafts_reason(rejections: Sequence[Rejection]) -> str:
    if not rejections:
        return "its raw data have no entries"
    return f"all {len(rejections)} entries are rejected, the first: {rejections[0].reason}"


def _take(
    proposals: Iterable[QuestionProposal], n_wanted: int, used: UsedImages
) -> Iterator[tuple[QuestionProposal, str]]:
    """Yield each proposal with the reason why it is not taken, or "", until enough are taken.

    The images of those that are taken are added to ``used``.
    """
    if n_wanted <= 0:
        return
    n_taken = Counter[tuple[int, ...]]()  # by places of the right option
    for proposal in proposals:
        places, hashes = proposal.places, [int(digits, 16) for digits in proposal.hashes]
        reason = proposal.reason
        # Balances the letters where the data fix the place, as for yes and no.
        if not reason and n_taken[places] >= ceil(n_wanted * len(places) / proposal.n_options):
            reason = "there are enough questions with this answer"
        elif not reason and (twin := used.near_duplicate(hashes, proposal.scene)):
            reason = f"an image looks like one of {twin}"
        if not reason:
            n_taken[places] += 1
            used.add(hashes, f"{proposal.task}: {proposal.entry}", proposal.scene)
        yield proposal, reason
        if n_taken.total() == n_wanted:
            return


def _to_proposal(task: str, number: int, candidate: Draft | Rejection) -> QuestionProposal:
    """Make a proposal of a candidate; a draft with an unusable image or point gets a reason."""
    if isinstance(candidate, Rejection):
        entry, reason = candidate.entry, candidate.reason
        return QuestionProposal(task=task, number=number, entry=entry, reason=reason)
    hashes: tuple[str, ...] = ()
    fault = ""
    try:
        hashes = tuple(_image_hashes(candidate))
    except ImageError as error:
        fault = str(error)
    return QuestionProposal(
        task=task,
        number=number,
        entry=candidate.entry,
        reason=fault,
        places=candidate.places,
        n_options=candidate.n_options,
        points=tuple(
            f"{file.name}: {x:g} {y:g}"
            for file, points in candidate.points.items()
            for x, y in points
        ),
        hashes=hashes,
        scene=candidate.scene,
    )


def _image_hashes(draft: Draft) -> Iterator[str]:
    """Hash the images of a draft; ImageError if one of its points lies outside of its image."""
    for file in draft.originals:
        image = read_image(file)
        for x, y in draft.points.get(file, ()):
            if not (0 <= x <= image.width and 0 <= y <= image.height):
                size = f"{image.width} x {image.height} px"
                raise ImageError(f"point ({x:g}, {y:g}) lies outside {file.name}, {size}")
        yield image_hash(image)


def draw_questions(
    folders: Sequence[Path],
    result: TaskBuildResult,
    store_image: StoreImage,
    *,
    edition: Edition,
    seed: int,
    height: int,
) -> list[Question]:
    """Draw the questions of a task: the proposals that were taken.

    Args:
        folders: The sources; their data sets are read one after another.
        result: Numbers of the proposals that were taken.
        store_image: Stores the bytes of an image under a name; called from several threads.
        edition: ``"built"`` or ``"mini"``.
        seed: The same seed builds the same table.
        height: Height in px of every image that is drawn on.

    Raises:
        SourceError: If the raw data are gone.
        ImageError: If an image is.
    """
    if not result.taken:
        return []
    task, taken = result.task, frozenset(result.taken)
    candidates = RECIPES[task].candidates(folders, task_rng(seed, task))
    drafts = [
        candidate
        for number, candidate in enumerate(islice(candidates, max(taken)), 1)
        if number in taken and isinstance(candidate, Draft)
    ]
    draw = partial(
        _draw_question, task=task, edition=edition, store_image=store_image, height=height
    )
    with ThreadPoolExecutor() as pool:  # most of the time goes into scaling and encoding images
        return list(pool.map(draw, _number_drafts(task, drafts, seed)))


def _number_drafts(task: str, drafts: list[Draft], seed: int) -> list[_NumberedDraft]:
    """Assign places, splits and numbers; the validation split comes first, each in order."""
    rng = task_rng(seed, task, "places")
    places = deal_places(drafts, rng)
    slots = deal_splits(places, rng)
    numbered = [
        _NumberedDraft(draft=draft, place=place, split=slot.split, number=slot.number)
        for draft, place, slot in zip(drafts, places, slots, strict=True)
    ]
    return sorted(numbered, key=lambda draft: (draft.split == "test", draft.number))


def _draw_question(
    numbered: _NumberedDraft, task: str, edition: Edition, store_image: StoreImage, height: int
) -> Question:
    draft, place, split, number = numbered
    view = draft.show(place, replace(draft.marks, height=height))
    name = f"{split}_{task}_{number}"
    images = [store_image(data, f"{name}_{n}") for n, data in enumerate(view.images, 1)]
    return Question(
        question_id=f"blink/{name}",
        task="blink",
        edition=edition,
        kind="choice",
        text=view.wording.question,
        context=view.prompt,
        answer=(ascii_uppercase[place],),
        images=tuple(image.sha256 for image in images),
        options=view.options,
        category=task,
        labels={"split": split, "sub_task": task, "entry": draft.entry, **draft.labels},
    )


def deal_places(drafts: Sequence[Draft], rng: Random) -> list[int]:
    """Assign each draft's right option a place, with letters balanced as far as possible."""
    n_used: Counter[int] = Counter()  # by place
    places: dict[int, int] = {}  # by index of the draft
    # Drafts with the least choice come first, so that the others can even out the letters.
    for index in sorted(range(len(drafts)), key=lambda index: len(drafts[index].places)):
        possible = drafts[index].places
        fewest = min(n_used[place] for place in possible)
        places[index] = rng.choice([place for place in possible if n_used[place] == fewest])
        n_used[places[index]] += 1
    return [places[index] for index in range(len(drafts))]


class SplitSlot(NamedTuple):
    """Split of a question and its number within the split."""

    split: str
    number: int


def deal_splits(places: Sequence[int], rng: Random) -> list[SplitSlot]:
    """Assign each question its split and number; each split gets half of every letter, up to one.

    Numbers are independent of the letters.
    """
    order = rng.sample(range(len(places)), len(places))
    by_letter = sorted(order, key=lambda index: places[index])
    val_indices = set(by_letter[::2])
    n_numbered = Counter[str]()  # by split
    slots: dict[int, SplitSlot] = {}
    for index in order:
        split = "val" if index in val_indices else "test"
        n_numbered[split] += 1
        slots[index] = SplitSlot(split, n_numbered[split])
    return [slots[index] for index in range(len(places))]
