"""Selects images and questions, with a reason for each rejection; shuffles the options."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random
from string import ascii_uppercase

from bench_assets.core.schema.rows import Rejection, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.suites.cogbench.dataset.reasoning import KINDS, find_kind
from bench_assets.suites.cogbench.dataset.source import SourceQuestion, Story


def images_by_id(images: Iterable[StoredImage]) -> dict[str, StoredImage]:
    """Find images by image id: the file's name without its ending.

    As the authors do, a name is also found by its part before the first full stop.
    """
    stored = list(images)
    short = {image.name.split(".")[0]: image for image in stored}
    return short | {image_id(image.name): image for image in stored}


def image_id(image: str) -> str:
    """The id of an image that is annotated here: its file name without the ending."""
    return image.rpartition(".")[0] or image


def select_stories(stories: Iterable[Story], images: Mapping[str, StoredImage]) -> Table[Story]:
    """Select the images that decode and have a description, in order."""
    selected, listed = Table[Story](), list(stories)
    times = Counter(story.image_id for story in listed)
    for story in listed:
        faults = {
            f"id {story.image_id!r} is empty or holds blanks or slashes": (
                re.fullmatch(r"[^\s/]+", story.image_id) is None
            ),
            f"image {story.image!r} is missing or does not decode": story.image not in images,
            f"id {story.image_id!r} is that of {times[story.image_id]} images": (
                times[story.image_id] > 1
            ),
            "no description": not story.description,
        }
        reasons = [fault for fault, holds in faults.items() if holds]
        entry = f"image {story.image}"
        selected.rejections.extend(Rejection(entry=entry, reason=reason) for reason in reasons)
        if not reasons:
            selected.rows.append(story)
    return selected


def select_questions(
    questions: Sequence[SourceQuestion],
    images: Mapping[str, StoredImage],
    *,
    keep_repeated: bool = False,
    kept: Collection[str] = (),
) -> Table[SourceQuestion]:
    """Select the questions that can be asked and scored, in order.

    Args:
        questions: All of them.
        images: By image id.
        keep_repeated: Keep repeated questions; the authors' count includes theirs.
        kept: Ids of questions that a review keeps: options may differ in case or a full stop.
    """
    selected = Table[SourceQuestion]()
    seen: set[tuple[str, ...]] = set()
    for question in questions:
        normalize = str if question_id(question) in kept else normalize_text
        faults = _faults(question, images, seen, normalize)
        reasons = [fault for fault, holds in faults.items() if holds]
        selected.rejections.extend(
            Rejection(entry=question.where, reason=reason) for reason in reasons
        )
        if not reasons:
            selected.rows.append(question)
            if not keep_repeated:
                seen.add(question_key(question))
    return selected


def question_key(question: SourceQuestion) -> tuple[str, ...]:
    """The identity of a question: image, text and options in any order."""
    return (
        question.image_id,
        normalize_text(question.text),
        *sorted(map(normalize_text, question.options)),
    )


def question_id(question: SourceQuestion) -> str:
    """Name a question by image and content; the authors' files have no ids."""
    digest = sha256("\n".join(question_key(question)).encode("utf-8", "surrogatepass")).hexdigest()
    return f"cogbench/vqa/{question.image_id}/{digest[:8]}"


def normalize_text(text: str) -> str:
    """Normalize case, blanks and a final full stop."""
    return " ".join(text.split()).casefold().removesuffix(".")


def _faults(
    question: SourceQuestion,
    images: Mapping[str, StoredImage],
    seen: set[tuple[str, ...]],
    alike: Callable[[str], str],
) -> dict[str, bool]:
    letters = ascii_uppercase[: len(question.options)]
    known = ", ".join(kind.code for kind in KINDS)
    return {
        "the question is empty": not question.text.strip(),
        "an option is empty": not all(map(str.strip, question.options)),
        f"equal options: {question.options}": (
            len(set(map(alike, question.options))) < len(question.options)
        ),
        f"answer {question.answer!r}, expected one of {letters}": (
            question.answer not in list(letters)
        ),
        f"unknown category {question.category!r}; known: {known}": (
            find_kind(question.category) is None
        ),
        f"image {question.image_id!r} is missing or does not decode": (
            question.image_id not in images
        ),
        "repeats an earlier question with the same options": question_key(question) in seen,
    }


_LETTERS = "ABCD"


def shuffle_options(question: SourceQuestion, seed: int) -> SourceQuestion:
    """Shuffle the options, seeded by the question, since writer models prefer some letters."""
    rng = Random(f"{seed}\n{question_id(question)}")
    right = question.options[_LETTERS.index(question.answer)]
    # Sorted first, so that the draw does not depend on the order in which they were written.
    options = sorted(question.options)
    rng.shuffle(options)
    return replace(question, options=tuple(options), answer=_LETTERS[options.index(right)])
