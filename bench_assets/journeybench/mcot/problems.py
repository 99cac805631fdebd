"""Text-only arithmetic in the layout of GSM8K, and what else it comes to with other numbers.

A GSM8K solution carries its calculations in double angle brackets: ``5*3=<<5*3=15>>15``. They are
done again when a picture shows another number than the text had.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import field, read_lines
from bench_assets.journeybench.numbers import as_number, numbers, written

_CALCULATION = re.compile(r"<<([^<>=]+)=([^<>=]+)>>")
_LITERAL = re.compile(r"\d+\.?\d*|\.\d+")
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


def problem_id(question: str) -> str:
    """Name a problem by its text, since GSM8K has no ids."""
    return f"gsm8k-{sha256(question.encode()).hexdigest()[:8]}"


def solve(problem: Problem, instead: Mapping[float, float]) -> Solution | None:
    """Do a problem's calculations again with other numbers.

    A number in a calculation is one of the text, or the result of an earlier calculation. None if
    it cannot be told which, if a number to be replaced is never used, or if the calculations do
    not end in the answer.

    Args:
        problem: The problem as written.
        instead: Number of the text -> the number to take for it.
    """
    results: dict[float, float] = {}
    used: set[float] = set()
    steps, result = [], None
    for expression, was in _CALCULATION.findall(problem.solution):
        literals = {float(found) for found in _LITERAL.findall(expression)}
        if literals & results.keys() & set(numbers(problem.question)):
            return None
        used |= literals - results.keys()
        changed = _LITERAL.sub(lambda n: _replaced(float(n[0]), results, instead), expression)
        old, result = as_number(was), _calculated(changed)
        if old is None or result is None or results.get(old, result) != result:
            return None
        results[old] = result
        steps.append(f"{changed.strip()} = {written(result)}")
    ends_in_answer = bool(results) and list(results)[-1] == as_number(problem.answer)
    if result is None or not ends_in_answer or not instead.keys() <= used:
        return None
    return Solution("\n".join(steps), result)


def _problem(question: str, answer: str, where: str) -> Problem:
    final = _FINAL.search(answer)
    if final is None or as_number(final[1]) is None:
        raise SourceError(f"{where}: the answer does not end in '#### ' and a number: {answer!r}")
    return Problem(
        problem_id=problem_id(question),
        question=question,
        solution=answer[: final.start()].strip(),
        answer=final[1].strip(),
    )


def _replaced(number: float, results: Mapping[float, float], instead: Mapping[float, float]) -> str:
    return written(results.get(number, instead.get(number, number)))


def _calculated(expression: str) -> float | None:
    """Evaluate sums, differences, products and quotients; None for anything else."""
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
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
