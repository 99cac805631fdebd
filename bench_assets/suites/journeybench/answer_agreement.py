"""Rules that compare a response with a ground truth: a number, or a text as a whole."""

import re
from string import ascii_uppercase

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.reading.numbers import parse_quantity
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


def read_answer(question: Question, response: str) -> str:
    """Read the image (cause and effect), else a truth in words or the number; "" if unread."""
    reading = answer_form(question).read(response)
    if reading is None or question.options:
        return question.options[ascii_uppercase.index(reading.value)] if reading else ""
    quantity = parse_quantity(reading.value)
    return format_number(quantity.value) if quantity else reading.value


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
