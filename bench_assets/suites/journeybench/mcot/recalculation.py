"""Recalculates problems of GSM8K with other numbers, in exact fractions.

A solution has its calculations in double angle brackets: ``5*3=<<5*3=15>>15``. ``solve`` repeats
them with other numbers; ``is_proven`` decides whether the result is certain from their form.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from bench_assets.core.text.arithmetic import evaluate, substitute
from bench_assets.core.text.number_words import ORDINAL_VALUES, format_number, words_to_digits
from bench_assets.suites.journeybench.mcot.problems import Problem

_CALCULATION = re.compile(r"<<([^<>=]+)=([^<>=]+)>>")
_NUMBER = re.compile(r"\d[\d,]*\d(?:\.\d+)?|\d(?:\.\d+)?|\.\d+")
_ORDINALS = "|".join(ORDINAL_VALUES)
_ORDINAL = re.compile(rf"\b(?:({_ORDINALS})s?|(\d+)(?:st|nd|rd|th))\b", re.IGNORECASE)
_COUNT = re.compile(rf"(?<![\d$/:.,%-])(\d+) (?!{_ORDINALS})[a-z]", re.IGNORECASE)
_OPERAND = re.compile(r"(?=(^|[-+*/(])([\d.]+)($|[-+*/)]))")  # with the characters beside it
# Factors that a problem may leave out, such as the days of a week.
_FACTORS = {Fraction(1, 2), *map(Fraction, (2, 3, 4, 7, 12, 30, 60, 100, 1000))}
_ROUNDING = Fraction(1, 100)


class Solution(NamedTuple):
    """A problem solved with other numbers than its text has."""

    steps: str  # one calculation a line
    answer: Fraction


class Calculation(NamedTuple):
    """A calculation of a solution."""

    expression: str
    result: Fraction
    inputs: list[Fraction]


def steps_of(problem: Problem) -> list[Calculation]:
    """List the calculations of a solution in order; ``ValueError`` if one is no arithmetic."""
    return [
        Calculation(
            expression=match[1],
            result=evaluate(match[2]),
            inputs=[Fraction(number) for number in _NUMBER.findall(match[1])],
        )
        for match in _CALCULATION.finditer(problem.solution.replace(",", ""))
    ]


def stated_numbers(question: str) -> list[Fraction]:
    """List the numbers of a text in digits or words, ordinals last."""
    text = words_to_digits(question)
    ordinals = [
        int(digits) if digits else ORDINAL_VALUES[word.lower()]
        for word, digits in _ORDINAL.findall(text)
    ]
    cardinals = [number.replace(",", "") for number in _NUMBER.findall(_ORDINAL.sub("", text))]
    return [*map(Fraction, cardinals), *map(Fraction, ordinals)]


def solve(problem: Problem, replacements: Mapping[int, int]) -> Solution | None:
    """Solve a problem again with other numbers; None if its calculations do not allow them.

    A replaced number must occur once in the text and once in the calculations, and must not be a
    result. A result must stay whole if it was, and must not become negative. If it changes, the
    text must not state the old one. Without other numbers, results may be rounded.
    """
    try:
        replaced = {Fraction(old): Fraction(new) for old, new in replacements.items() if old != new}
        return _recalculate(problem, replaced)
    except ValueError:
        return None


def is_proven(problem: Problem, replacements: Mapping[int, int]) -> bool:
    """Whether the form of a problem proves what ``solve`` returns.

    The calculations use every number of the text, and besides only usual factors. Each replaced
    number is a count, and the new one is between the same numbers of the text as the old one.
    """
    counts = set(map(int, _COUNT.findall(words_to_digits(problem.question))))
    kept_numbers = set(stated_numbers(problem.question)) - replacements.keys()
    keeps_order = all(
        (new > kept) == (old > kept) for old, new in replacements.items() for kept in kept_numbers
    )
    # 0, 1 and 2 may also be meant without a number: by "oneself", "both", "half".
    are_counts = replacements.keys() <= counts - {0, 1, 2}
    return keeps_order and are_counts and _is_closed(problem)


def _recalculate(problem: Problem, replaced: Mapping[Fraction, Fraction]) -> Solution | None:
    """Solve as ``solve`` does; ``ValueError`` if the answer or a calculation is no number."""
    steps, stated = steps_of(problem), stated_numbers(problem.question)
    inputs = [number for step in steps for number in step.inputs]
    occur_once = all(stated.count(old) == inputs.count(old) == 1 for old in replaced)
    if not occur_once or not {step.result for step in steps}.isdisjoint(replaced):
        return None
    lines = list[str]()
    new_results = dict[Fraction, Fraction]()  # by the old one
    for step in steps:
        changed = {n: new_results[n] for n in step.inputs if new_results.get(n, n) != n}
        values = {**replaced, **changed}
        result = _new_result(step, values, rounding=Fraction(0) if replaced else _ROUNDING)
        if result is None:
            return None
        has_two_values = new_results.setdefault(step.result, result) != result
        may_be_stated = not changed.keys().isdisjoint(stated)
        repeated = {number for number in changed if inputs.count(number) > 1}
        may_be_factor = not repeated.isdisjoint(_usual_factors(step))
        if has_two_values or may_be_stated or may_be_factor:
            return None
        expression = substitute(step.expression, values).strip()
        lines.append(f"{expression} = {format_number(float(result))}")
    answer = Fraction(problem.answer.replace(",", "").strip("$%"))
    is_solved = bool(steps) and steps[-1].result == answer
    return Solution("\n".join(lines), new_results[answer]) if is_solved else None


def _new_result(
    step: Calculation, values: Mapping[Fraction, Fraction], rounding: Fraction
) -> Fraction | None:
    """Evaluate a step with other numbers; None if it was wrong or becomes impossible."""
    original, result = evaluate(step.expression), evaluate(step.expression, values)
    becomes_fraction = not rounding and step.result.denominator == 1 < result.denominator
    is_wrong = abs(original - step.result) > rounding
    return None if is_wrong or becomes_fraction or result < 0 else result


def _is_closed(problem: Problem) -> bool:
    """Whether each input has a source, and each number of the text and each result is used."""
    steps, stated = steps_of(problem), {*stated_numbers(problem.question)}
    results = set[Fraction]()
    for step in steps:
        # A text may list four things without their number, so 4 is no certain factor.
        factors = _usual_factors(step) - {4}
        if not {*step.inputs} <= stated | results | factors:
            return False
        results.add(step.result)
    used = {number for step in steps for number in step.inputs} | {steps[-1].result}
    uses_stated = stated - {1} <= used | results
    return uses_stated and results <= used


def _usual_factors(step: Calculation) -> set[Fraction]:
    """Factors and divisors of a calculation that a text may leave out."""
    operands = _OPERAND.findall(step.expression.replace(" ", ""))
    factors = {Fraction(n) for before, n, after in operands if {before, after} & {"*", "/"}}
    return factors & _FACTORS
