"""Option permutations for circular evaluation.

MMBench (section 4.3) asks a question with n options n times, with the options rotated by one place
each time. Questions that refer to options other than by position are left out and counted.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from string import ascii_uppercase
from typing import NamedTuple

from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.task import Task

_OPTION_REFERENCE = re.compile(
    r"\bof (?:the )?(?:above|below|others?|these|those|them)\b"
    r"|\b(?:previous|preceding|other|remaining) (?:options?|answers?|choices?)\b"
    r"|^\W*(?:both|neither|either|none|all)\b"
    r"|以上|上述|(?:都|均|皆|全)(?:不|对|正确|错|是|可)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\bA(?! (?:is|are|was|has|and|or|nor|but|not|only)\b)(?= [a-z])")
_IMAGE = re.compile(r"\[IMAGE_\d+\]|<image(?: ?\d+)?>")

NO_CHOICE = "it does not have one right answer among distinct options"
REFERS_TO_OPTIONS = "its options refer to each other"
NAMES_LETTERS = "its options name letters"
IMAGES = "its options are images"
NOT_LISTED = "its prompt does not list its options by letter"


class PermutedQuestion(NamedTuple):
    """A question with its options in one order."""

    question: Question  # with its own id, except in the benchmark's order
    original_id: str  # id in the benchmark
    number: int  # of the order; 1: the benchmark's
    places: tuple[int, ...]  # of each option as shown: its index in the benchmark


class PermutedQuestions(NamedTuple):
    """Questions in several orders, and the number of questions left out."""

    ordered: list[PermutedQuestion]
    left_out: Counter[str]  # by reason


def permute_options(
    task: Task, questions: Sequence[Question], orders: int = 0, seed: int = 0
) -> PermutedQuestions:
    """Rotate the options of each question together with the key; count the questions left out.

    Args:
        task: The task, with its main prompt.
        questions: The questions, in order.
        orders: Orders per question: the original one and random others; 0, or more than there are
            options: one for each option.
        seed: Seed of the random orders, combined with the question's id.
    """
    ordered: list[PermutedQuestion] = []
    left_out: Counter[str] = Counter()
    for question in questions:
        if reason := not_permutable_reason(question):
            left_out[reason] += 1
            continue
        rotated = [
            _rotate_options(question, shift, number)
            for number, shift in enumerate(_shifts(question, orders, seed), 1)
        ]
        if all(_is_shown(task, question, rotation.question) for rotation in rotated):
            ordered += rotated
        else:
            left_out[NOT_LISTED] += 1
    return PermutedQuestions(ordered, left_out)


def not_permutable_reason(question: Question) -> str:
    """Reason why options cannot be permuted; "" if they can.

    An option that names a letter ("Point A", a letter shown in the image) would contradict its new
    position.
    """
    options = question.options
    if question.kind != "choice" or not _has_key(question):
        return NO_CHOICE
    if any(map(_OPTION_REFERENCE.search, options)):
        return REFERS_TO_OPTIONS
    if any(map(_IMAGE.search, options)):
        return IMAGES
    letters = ascii_uppercase[: len(options)]
    letter_pattern = re.compile(rf"(?<![A-Za-z0-9])[{letters}](?![A-Za-z0-9])")
    if any(letter_pattern.search(_ARTICLE.sub("", option)) for option in options):
        return NAMES_LETTERS
    return ""


def _has_key(question: Question) -> bool:
    """Whether the key is one letter, and the options are several, distinct and not empty."""
    options, letters = question.options, list(ascii_uppercase[: len(question.options)])
    if len(options) > len(letters) or len(question.answer) != 1:
        return False
    is_distinct = len(set(options)) == len(options) > 1
    return question.answer[0] in letters and is_distinct and all(map(str.strip, options))


def _shifts(question: Question, orders: int, seed: int) -> list[int]:
    """Places by which the options are rotated in each order, beginning with 0."""
    n = len(question.options)
    shifts = list(range(1, n))
    if 0 < orders < n:
        shifts = Random(f"{seed}\n{question.question_id}").sample(shifts, orders - 1)
    return [0, *shifts]


def _rotate_options(question: Question, shift: int, number: int) -> PermutedQuestion:
    n = len(question.options)
    places = tuple((position + shift) % n for position in range(n))
    rotated = question
    if number > 1:
        options = tuple(question.options[position] for position in places)
        key = places.index(ascii_uppercase.index(question.answer[0]))
        rotated = replace(
            question,
            question_id=f"{question.question_id}, order {number}",
            options=options,
            answer=(ascii_uppercase[key],),
            text=_replace_listed(question.text, question.options, options),
            context=_replace_listed(question.context, question.options, options),
        )
    return PermutedQuestion(
        question=rotated, original_id=question.question_id, number=number, places=places
    )


def _replace_listed(text: str, options: Sequence[str], replacements: Sequence[str]) -> str:
    """Replace the options that a text lists after their letters; other texts are unchanged."""
    match = _list_pattern(options).search(text)
    if match is None:
        return text
    parts, end = [], 0
    for group, replacement in enumerate(replacements, 1):
        parts += [text[end : match.start(group)], replacement]
        end = match.end(group)
    return "".join([*parts, text[end:]])


def _list_pattern(options: Sequence[str]) -> re.Pattern[str]:
    """Pattern of a list of options, each after its letter; one group per option."""
    lines = [
        rf"(?<![A-Za-z0-9])[(（\[]?{letter}[)）\].、．:：\s]+({re.escape(option)})"
        for letter, option in zip(ascii_uppercase, options, strict=False)
    ]
    word_end = r"(?!\w)" if options[-1][-1:].isalnum() else ""
    return re.compile(r"[\s;；,，/|.。]*".join(lines) + word_end)


def _is_shown(task: Task, original: Question, rotated: Question) -> bool:
    """Whether the prompt lists the options as rotated, and not also in another, original order."""
    text = _prompt_text(task.condition("main").prompt(rotated))
    if not _list_pattern(rotated.options).search(text):
        return False
    is_same = rotated.options == original.options
    return is_same or not _list_pattern(original.options).search(text)


def _prompt_text(prompt: Prompt) -> str:
    parts = [part for turn in prompt.turns for part in turn.parts]
    return "\n".join(part for part in parts if isinstance(part, str))
