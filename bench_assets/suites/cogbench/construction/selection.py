"""Selects images and questions, with a reason for each rejection; shuffles the options."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from random import Random
from string import ascii_uppercase
from typing import NamedTuple

from bench_assets.core.schema.rows import Rejection, StoredImage
from bench_assets.suites.cogbench.dataset.reasoning import KINDS, find_kind
from bench_assets.suites.cogbench.dataset.source import SourceQuestion, Story


class Stories(NamedTuple):
    """Selected stories, and rejections."""

    kept: list[Story]
    rejections: list[Rejection]


class Questions(NamedTuple):
    """Selected questions, and rejections."""

    kept: list[SourceQuestion]
    rejections: list[Rejection]


def by_image_id(images: Iterable[StoredImage]) -> dict[str, StoredImage]:
    """Find images by image id: the file's name up to its first full stop, as the authors do."""
    return {image.name.split(".")[0]: image for image in images}


def select_stories(stories: Iterable[Story], images: Mapping[str, StoredImage]) -> Stories:
    """Select the images that decode and have a description, in order."""
    found = Stories([], [])
    for story in stories:
        faults = {
            f"id {story.image_id!r} is empty or holds blanks or slashes": (
                re.fullmatch(r"[^\s/]+", story.image_id) is None
            ),
            f"image {story.image!r} is missing or does not decode": story.image not in images,
            "no description": not story.description,
        }
        reasons = [fault for fault, holds in faults.items() if holds]
        entry = f"image {story.image}"
        found.rejections.extend(Rejection(entry=entry, reason=reason) for reason in reasons)
        if not reasons:
            found.kept.append(story)
    return found


def select_questions(
    questions: Sequence[SourceQuestion],
    images: Mapping[str, StoredImage],
    *,
    keep_repeated: bool = False,
) -> Questions:
    """Select the questions that can be asked and scored, in order.

    Args:
        questions: All of them.
        images: By image id.
        keep_repeated: Keep repeated questions; the authors' count includes theirs.
    """
    found = Questions([], [])
    seen: set[tuple[str, ...]] = set()
    for question in questions:
        reasons = [why for why, holds in _faults(question, images, seen).items() if holds]
        found.rejections.extend(Rejection(entry=question.where, reason=why) for why in reasons)
        if not reasons:
            found.kept.append(question)
            if not keep_repeated:
                seen.add(content(question))
    return found


def content(question: SourceQuestion) -> tuple[str, ...]:
    """The identity of a question: image, text and options in any order."""
    return question.image_id, plain(question.text), *sorted(map(plain, question.options))


def question_id(question: SourceQuestion) -> str:
    """Name a question by image and content; the authors' files have no ids."""
    digest = sha256("\n".join(content(question)).encode("utf-8", "surrogatepass")).hexdigest()
    return f"cogbench/vqa/{question.image_id}/{digest[:8]}"


def plain(text: str) -> str:
    """Normalize case, blanks and a final full stop."""
    return " ".join(text.split()).casefold().removesuffix(".")


def _faults(
    question: SourceQuestion, images: Mapping[str, StoredImage], seen: set[tuple[str, ...]]
) -> dict[str, bool]:
    letters = ascii_uppercase[: len(question.options)]
    known = ", ".join(kind.code for kind in KINDS)
    return {
        "the question is empty": not question.text.strip(),
        "an option is empty": not all(map(str.strip, question.options)),
        f"equal options: {question.options}": (
            len(set(map(plain, question.options))) < len(question.options)
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
        "repeats an earlier question with the same options": content(question) in seen,
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
