"""Selects images and questions, with a reason for each rejection; shuffles the options."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random
from string import ascii_uppercase

from bench_assets.core.schema.rows import StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.suites.cogbench.dataset.reasoning import KINDS, find_kind
from bench_assets.suites.cogbench.dataset.source import SourceQuestion, Story


def images_by_id(images: Iterable[StoredImage]) -> dict[str, StoredImage]:
    """Map image ids to images; an id is the file's name without its ending.

    As in the authors' code, the part of a name before the first full stop is an id, too.
    """
    stored = list(images)
    by_first_part = {image.name.split(".")[0]: image for image in stored}
    return by_first_part | {image_id(image.name): image for image in stored}


def image_id(image: str) -> str:
    """The id of an image that is annotated here: its file name without the ending."""
    return image.rpartition(".")[0] or image


def select_stories(stories: Iterable[Story], images: Mapping[str, StoredImage]) -> Table[Story]:
    """Select the stories with a description, an image that decodes and an id of their own."""
    selected = Table[Story]()
    all_stories = list(stories)
    n_images = Counter(story.image_id for story in all_stories)
    for story in all_stories:
        faults = {
            f"id {story.image_id!r} is empty or holds blanks or slashes": (
                re.fullmatch(r"[^\s/]+", story.image_id) is None
            ),
            f"image {story.image!r} is missing or does not decode": story.image not in images,
            f"id {story.image_id!r} is that of {n_images[story.image_id]} images": (
                n_images[story.image_id] > 1
            ),
            "no description": not story.description,
        }
        reasons = [fault for fault, holds in faults.items() if holds]
        for reason in reasons:
            selected.reject(f"image {story.image}", reason)
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
        questions: All questions of the source.
        images: By image id.
        keep_repeated: Keep repeated questions; the authors' count includes theirs.
        kept: Ids of questions that a review keeps; their options may differ only in case, blanks
            or a full stop.
    """
    selected = Table[SourceQuestion]()
    seen: set[tuple[str, ...]] = set()
    for question in questions:
        normalize_option = str if question_id(question) in kept else normalize_text
        faults = _faults(question, images, seen, normalize_option)
        reasons = [fault for fault, holds in faults.items() if holds]
        for reason in reasons:
            selected.reject(question.where, reason)
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
    normalize_option: Callable[[str], str],
) -> dict[str, bool]:
    """Every fault that a question may have, and whether it has it."""
    letters = ascii_uppercase[: len(question.options)]
    codes = ", ".join(kind.code for kind in KINDS)
    return {
        "the question is empty": not question.text.strip(),
        "an option is empty": any(not option.strip() for option in question.options),
        f"equal options: {question.options}": (
            len(set(map(normalize_option, question.options))) < len(question.options)
        ),
        f"answer {question.answer!r}, expected one of {letters}": (
            question.answer not in list(letters)  # not "" or "AB", as parts of a text
        ),
        f"unknown category {question.category!r}; known: {codes}": (
            find_kind(question.category) is None
        ),
        f"image {question.image_id!r} is missing or does not decode": (
            question.image_id not in images
        ),
        "repeats an earlier question with the same options": question_key(question) in seen,
    }


def shuffle_options(question: SourceQuestion, seed: int) -> SourceQuestion:
    """Shuffle the options, seeded by the question, since writer models prefer some letters."""
    rng = Random(f"{seed}\n{question_id(question)}")
    right = question.options[ascii_uppercase.index(question.answer)]
    # Sorted first, so that the draw does not depend on the order in which they were written.
    options = sorted(question.options)
    rng.shuffle(options)
    letter = ascii_uppercase[options.index(right)]
    return replace(question, options=tuple(options), answer=letter)
