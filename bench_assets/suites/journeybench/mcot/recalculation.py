"""Recalculates problems of GSM8K with other numbers: a short rule, in exact fractions.

A solution has its calculations in double angle brackets: ``5*3=<<5*3=15>>15``. ``solve`` carries
other numbers through them; ``is_proven`` says whether the form leaves no other reading.
"""

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from bench_assets.core.text.arithmetic import evaluate, substitute
from bench_assets.core.text.number_words import ORDINAL_WORDS, format_number, words_to_digits
from bench_assets.suites.journeybench.mcot.problems import Problem

_CALCULATION = re.compile(r"<<([^<>=]+)=([^<>=]+)>>")
_NUMBER = re.compile(r"\d[\d,]*\d(?:\.\d+)?|\d(?:\.\d+)?|\.\d+")
_ORDINALS = "|".join(ORDINAL_WORDS)
_ORDINAL = re.compile(rf"\b(?:({_ORDINALS})s?|(\d+)(?:st|nd|rd|th))\b", re.IGNORECASE)
_COUNT = re.compile(rf"(?<![\d$/:.,%-])(\d+) (?!{_ORDINALS})[a-z]", re.IGNORECASE)
_FACTORS = {Fraction(1, 2), *map(Fraction, (2, 3, 4, 7, 12, 30, 60, 100, 1000))}  # stated nowhere
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
    """List the calculations of a solution in order; a broken one raises ``ValueError``."""
    return [
        Calculation(
            match[1], evaluate(match[2]), [Fraction(number) for number in _NUMBER.findall(match[1])]
        )
        for match in _CALCULATION.finditer(problem.solution.replace(",", ""))
    ]


def stated_numbers(question: str) -> list[Fraction]:
    """List the numbers of a text in digits or words, ordinals last."""
    text = words_to_digits(question)
    ordinals = [n[2] or ORDINAL_WORDS.index(n[1].lower()) + 3 for n in _ORDINAL.finditer(text)]
    cardinals = [n.replace(",", "") for n in _NUMBER.findall(_ORDINAL.sub("", text))]
    return [*map(Fraction, cardinals), *map(Fraction, ordinals)]


def solve(problem: Problem, replacements: Mapping[int, int]) -> Solution | None:
    """Solve a problem again with other numbers; None if the calculations do not carry them.

    A replaced number stands once in the text and once in the calculations, and is no result. A
    result is whole where it was, not negative, and, if it changes, no number of the text. Without
    other numbers, results may be rounded.
    """
    try:
        replaced = {Fraction(old): Fraction(new) for old, new in replacements.items() if old != new}
        return _recalculate(problem, replaced)
    except ValueError:
        return None


def is_proven(problem: Problem, replacements: Mapping[int, int]) -> bool:
    """Whether the form alone proves what ``solve`` returns.

    Every number of the text is used, every other input is a usual factor, each replaced number is a
    count, and the new one keeps its place in the order of the text's numbers.
    """
    counts = set(map(int, _COUNT.findall(words_to_digits(problem.question))))
    others = set(stated_numbers(problem.question)) - replacements.keys()
    keep_order = all(
        (new > other) == (old > other) for old, new in replacements.items() for other in others
    )
    # 0, 1 and 2 may also be meant without a number: by "oneself", "both", "half".
    are_counts = replacements.keys() <= counts - {0, 1, 2}
    return keep_order and are_counts and _is_closed(problem)


def _recalculate(problem: Problem, replaced: Mapping[Fraction, Fraction]) -> Solution | None:
    steps, stated = steps_of(problem), stated_numbers(problem.question)
    inputs = [number for step in steps for number in step.inputs]
    once = all(stated.count(old) == inputs.count(old) == 1 for old in replaced)
    if not once or not {step.result for step in steps}.isdisjoint(replaced):
        return None
    lines, results = list[str](), dict[Fraction, Fraction]()
    for step in steps:
        carried = {n: results[n] for n in step.inputs if results.get(n, n) != n}
        values = {**replaced, **carried}
        original, result = evaluate(step.expression), evaluate(step.expression, values)
        is_wrong = abs(original - step.result) > (0 if replaced else _ROUNDING)
        is_broken_up = bool(replaced) and step.result.denominator == 1 < result.denominator
        is_ambiguous = results.setdefault(step.result, result) != result or {*carried} & {*stated}
        repeated = {number for number in carried if inputs.count(number) > 1}
        is_ambiguous = is_ambiguous or repeated & _usual_factors(step)  # a result, or the factor
        if is_wrong or is_broken_up or is_ambiguous or result < 0:
            return None
        written = substitute(step.expression, values).strip()
        lines.append(f"{written} = {format_number(float(result))}")
    answer = Fraction(problem.answer.replace(",", "").strip("$%"))
    return Solution("\n".join(lines), result) if steps and steps[-1].result == answer else None


def _is_closed(problem: Problem) -> bool:
    """Whether each input has a source, and each number of the text and each result a use."""
    steps, stated = steps_of(problem), {*stated_numbers(problem.question)}
    results = set[Fraction]()
    for step in steps:
        factors = _usual_factors(step) - {4}  # what is counted in words may be 4
        if not {*step.inputs} <= stated | results | factors:
            return False
        results.add(step.result)
    used = {number for step in steps for number in step.inputs} | {steps[-1].result}
    return stated - {1} <= used | results and results <= used


def _usual_factors(step: Calculation) -> set[Fraction]:
    """Numbers of a calculation that may be a factor that no text states, as days of a week."""
    sides = re.findall(r"(?=(^|[-+*/(])([\d.]+)($|[-+*/)]))", step.expression.replace(" ", ""))
    return {Fraction(n) for before, n, after in sides if {before, after} & {*"*/"}} & _FACTORS
