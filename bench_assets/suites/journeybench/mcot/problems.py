"""Text-only arithmetic in the layout of GSM8K, and what else it comes to with other numbers.

A GSM8K solution carries its calculations in double angle brackets: ``5*3=<<5*3=15>>15``. They are
done again when an image shows another number than the text had. ``usual_numbers.json`` lists
numbers that go without saying, by the beginnings of words that bring them along.
"""

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench_assets.core.parsing.numbers import as_number, numbers, written
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import field, read_lines
from bench_assets.suites.journeybench.published_files import problem_id

_CALCULATION = re.compile(r"<<([^<>=]+)=([^<>=]+)>>")
_LITERAL = re.compile(r"\d+\.?\d*|\.\d+")
_EVERYWHERE = frozenset({2, 7, 12})  # both, halves, twice; a week's days; a dozen, a year's months
_HINTS = {
    float(number): re.compile(rf"\b(?:{'|'.join(words)})", re.IGNORECASE)
    for number, words in json.loads(
        Path(__file__).with_name("usual_numbers.json").read_text(encoding="utf-8")
    ).items()
}
_FINAL = re.compile(r"####\s*(\S.*)\s*\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem of GSM8K."""

    problem_id: str
    question: str
    solution: str  # with calculations in double angle brackets, without the final line
    answer: str


class Solution(NamedTuple):
    """A problem solved with other numbers than its text has."""

    steps: str  # one calculation a line
    answer: float


def read_problems(file: Path) -> list[Problem]:
    """Read a file of GSM8K in its order.

    Raises:
        SourceError: If it cannot be read, or an answer does not end in ``#### `` and the result.
    """
    return [
        _problem(field(entry, "question", str, where), field(entry, "answer", str, where), where)
        for entry, where in read_lines(file)
    ]


def solve(problem: Problem, instead: Mapping[float, float]) -> Solution | None:
    """Do a problem's calculations again with other numbers.

    A number in a calculation is one of the text, or the result of an earlier calculation. None if
    it cannot be told which, if a number to be replaced is ``unclear``, if the calculations do not
    end in the answer, or if one of them comes out below zero: there are no fewer things than none.

    Args:
        problem: The problem as written.
        instead: Number of the text -> the number to take for it.
    """
    if any(unclear(problem, number) for number in instead):
        return None
    results: dict[float, float] = {}
    steps, result = [], None
    for expression, was in _CALCULATION.findall(problem.solution):
        if _may_be_no_result(problem, expression, results):
            return None
        changed = _LITERAL.sub(lambda n: _replaced(float(n[0]), results, instead), expression)
        old, result = as_number(was), _calculated(changed)
        if old is None or result is None or result < 0 or results.get(old, result) != result:
            return None
        results[old] = result
        steps.append(f"{changed.strip()} = {written(result)}")
    ends_in_answer = bool(results) and list(results)[-1] == as_number(problem.answer)
    return Solution("\n".join(steps), result) if ends_in_answer and result is not None else None


def unclear(problem: Problem, number: float) -> str:
    """Say why it cannot be told which number of the calculations is this one of the text.

    Calculations hold more than the text gives: the 2 of "twice", a week's 7, results of earlier
    ones. What is written like one of those may be either, and the image would change both. ""
    if it is clear: the number stands once in the calculations, and is nothing else.

    >>> cats = Problem(
    ...     problem_id="p", question="Ann has 2 cats, Bo twice as many. And both?",
    ...     solution="<<2*2=4>>4, <<2+4=6>>6", answer="6",
    ... )
    >>> unclear(cats, 2)
    '2 stands 3 times in the calculations'
    """
    calculations = _CALCULATION.findall(problem.solution)
    n = sum(float(found) == number for e, _ in calculations for found in _LITERAL.findall(e))
    shown = written(number)
    if n != 1:
        return f"{shown} stands {n} times in the calculations"
    if number in {as_number(was) for _, was in calculations}:
        return f"{shown} is also a result"
    if number in _EVERYWHERE or _hints_at(number, problem):
        return f"{shown} may be a number that goes without saying"
    return ""


def _problem(question: str, answer: str, where: str) -> Problem:
    final = _FINAL.search(answer)
    if final is None or not final[1].strip("$-%")[:1].isdigit() or as_number(final[1]) is None:
        raise SourceError(f"{where}: the answer does not end in '#### ' and a number: {answer!r}")
    return Problem(
        problem_id=problem_id(question),
        question=question,
        solution=answer[: final.start()].strip(),
        answer=final[1].strip(),
    )


def _may_be_no_result(problem: Problem, expression: str, results: Mapping[float, float]) -> bool:
    """Whether a number that equals an earlier result may come from elsewhere."""
    literals = [float(found) for found in _LITERAL.findall(expression)]
    said = numbers(problem.question)
    return any(
        number in said
        # What has not changed may come from anywhere.
        or (results[number] != number and literals.count(number) > 1)
        or (results[number] != number and _hints_at(number, problem))
        for number in results.keys() & set(literals)
    )


def _hints_at(number: float, problem: Problem) -> bool:
    """Whether the words of a problem bring a number with them, as "week" brings 7."""
    words = _HINTS.get(number)
    return words is not None and words.search(f"{problem.question} {problem.solution}") is not None


def _replaced(number: float, results: Mapping[float, float], instead: Mapping[float, float]) -> str:
    return written(results.get(number, instead.get(number, number)))


def _calculated(expression: str) -> float | None:
    """Evaluate sums, differences, products and quotients; None for anything else."""
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _value(left) + _value(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _value(left) - _value(right)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _value(left) * _value(right)
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _value(left) / _value(right)
    raise ValueError(ast.dump(node))
