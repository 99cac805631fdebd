"""Forms of answers, and rules that compare a response with a ground truth."""

import re
from string import ascii_uppercase

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.reading.numbers import parse_quantity
from bench_assets.core.schema.rows import Question
from bench_assets.core.text.number_words import format_number, list_numbers

NUMBER_TOLERANCE = 0.1
"""Maximum difference of equal answers, as in JourneyBench's answer_verification.py."""

_EPSILON = 1e-9  # rounding error: 3.1 - 3.0 is a little more than 0.1
_STEP = re.compile(r"=\s*\$?(-?\d[\d,]*(?:\.\d+)?)")
_OPTION_SPELLINGS = (("the first image", "the second image"), ("first image", "second image"))


def answer_form(question: Question) -> AnswerForm:
    """Form of an answer: an image (cause and effect), else a number or a ground truth in words."""
    if question.options:
        return AnswerForm("choice", question.options, spellings=_OPTION_SPELLINGS)
    return AnswerForm(
        "number", tuple(text for text in question.answer if parse_quantity(text) is None)
    )


def prompt_text(question: Question, instruction: str) -> str:
    """Text of a prompt: an instruction, the question, and the form of its answer."""
    options = " or ".join(question.options)
    answer = f"{options}." if options else "the answer, as a number where it is one."
    steps = f'Think step by step, and end with a line "Answer: " followed by {answer}'
    return f"{instruction}\nQuestion: {question.text}\n{steps}"


def read_answer(question: Question, response: str) -> str:
    """Read the answer from a response, in the form of ``answer_form``; "" if it has none."""
    reading = answer_form(question).read(response)
    if reading is None:
        return ""
    if question.options:
        return question.options[ascii_uppercase.index(reading.value)]
    quantity = parse_quantity(reading.value)
    return format_number(quantity.value) if quantity else reading.value


def matches_truth(answer: str, truth: str) -> bool:
    """Whether an answer is a ground truth: the same text, or about the same number.

    >>> matches_truth("30.1", "30 cups"), matches_truth("3", "no cups")
    (True, False)
    """
    number, true_number = parse_quantity(answer), parse_quantity(truth)
    if number is None or true_number is None:
        return answer == truth
    return same_number(number.value, true_number.value)


def same_number(first: float, second: float) -> bool:
    """Whether two numbers count as the same answer.

    >>> same_number(3.1, 3.0), same_number(3.2, 3.0)
    (True, False)
    """
    return abs(first - second) <= NUMBER_TOLERANCE + _EPSILON


def step_results(solution: str) -> list[str]:
    """List the numbers after the equals signs of a solution."""
    return _STEP.findall(solution)


def missing_steps(solution: str, response: str) -> list[str]:
    """List the results of the solution's steps that a response does not state in order."""
    remaining, missing = list_numbers(response), []
    for step_result in step_results(solution):
        for result in list_numbers(step_result):
            matches = (i for i, number in enumerate(remaining) if same_number(number, result))
            index = next(matches, None)
            if index is None:
                missing.append(step_result)
            else:
                remaining = remaining[index + 1 :]
    return missing
