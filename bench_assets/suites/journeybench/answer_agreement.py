"""Rules that compare a response with a ground truth: a number, or a text as a whole."""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.reading.choices import read_choice, read_one_of
from bench_assets.core.reading.numbers import parse_quantity, read_number
from bench_assets.core.schema.rows import Question
from bench_assets.core.text.number_words import format_number, list_numbers

NUMBER_TOLERANCE = 0.1
"""Numbers this far apart are the same answer, as in JourneyBench's answer_verification.py."""

_EPSILON = 1e-9  # 3.1 - 3.0 is a little more than 0.1
_STEP = re.compile(r"=\s*\$?(-?\d[\d,]*(?:\.\d+)?)")
_PLACES = (("the first image", "the second image"), ("first image", "second image"))


def answer_form(question: Question) -> AnswerForm:
    """An image (cause and effect), else a number or one of the ground truths in words."""
    if question.options:
        return AnswerForm("choice", question.options, spellings=_PLACES)
    return AnswerForm("number", tuple(text for text in question.answer if not is_number(text)))


def read_answer(response: str, options: Sequence[str], truths: Sequence[str] = ()) -> str:
    """Read the option if there are any (cause and effect), else a truth or the number; else "".

    >>> read_answer("The second image.", ("image1", "image2")), read_answer("So thirty.", ())
    ('image2', '')
    >>> read_answer("The answer is 30 cups.", ()), read_answer("No cups.", (), ("no cups", "0"))
    ('30', 'no cups')
    """
    if options:
        letters = (read_choice(response, names) for names in (options, *_PLACES))
        letter = next(filter(None, letters), None)
        return options[ascii_uppercase.index(letter.value)] if letter else ""
    text = read_one_of("choice", response, [truth for truth in truths if not is_number(truth)])
    if text and not text.named:
        return text.value
    number = read_number(response)
    return format_number(number.value.value) if number else ""


def is_number(text: str) -> bool:
    """Whether a text is a number, with or without a unit."""
    return parse_quantity(text) is not None


def matches_truth(answer: str, truth: str) -> bool:
    """Whether an answer is a ground truth: the same text, or about the same number.

    >>> matches_truth("30.1", "30 cups"), matches_truth("3", "no cups")
    (True, False)
    """
    number, true_number = parse_quantity(answer), parse_quantity(truth)
    if number is None or true_number is None:
        return answer == truth
    return same_number(number.value, true_number.value)


def same_number(one: float, other: float) -> bool:
    """Whether two numbers count as the same answer.

    >>> same_number(3.1, 3.0), same_number(3.2, 3.0)
    (True, False)
    """
    return abs(one - other) <= NUMBER_TOLERANCE + _EPSILON


def missing_steps(solution: str, response: str) -> list[str]:
    """Results of the solution's steps that a response does not state in order."""
    numbers, missing = list_numbers(response), []
    for step in _STEP.findall(solution):
        for result in list_numbers(step):
            at = next((n for n, number in enumerate(numbers) if same_number(number, result)), None)
            if at is None:
                missing.append(step)
            else:
                numbers = numbers[at + 1 :]
    return missing
