"""Text-only arithmetic problems in the layout of GSM8K, and their solution with other numbers.

A GSM8K solution has its calculations in double angle brackets: ``5*3=<<5*3=15>>15``. They are
recalculated when an image shows another number than the text, if ``data_flow`` can prove which
numbers change.
"""

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from bench_assets.core.reading.numbers import parse_number
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, make_rows, require_field
from bench_assets.core.text.number_words import format_number, list_numbers
from bench_assets.suites.journeybench.mcot.data_flow import (
    LITERAL,
    Problem,
    SolutionStep,
    is_implied,
    replacement_fault,
    steps_of,
)
from bench_assets.suites.journeybench.published_files import problem_id, read_optional_lines

__all__ = ["PROBLEMS", "Problem", "Solution", "read_problems", "replacement_fault", "solve"]

PROBLEMS = "gsm8k.jsonl"
_ROUNDED = 0.01
_FINAL = re.compile(r"####\s*(\S.*)\s*\Z")


class Solution(NamedTuple):
    """A problem solved with other numbers than its text has."""

    steps: str  # one calculation a line
    answer: float


def read_problems(file: Path) -> Table[Problem]:
    """Read JSON lines of GSM8K in file order; no problems if the file does not exist.

    Repeated problems are rejected, and those whose answer does not end in ``#### `` and the result.

    Raises:
        SourceError: If the file cannot be read.
    """
    return make_rows(read_optional_lines(file), _problem, unique="problem_id")


def solve(problem: Problem, instead: Mapping[float, float]) -> Solution | None:
    """Solve a problem again with other numbers; None if that is not certain to be right.

    A number in a calculation is from the text, or the result of an earlier calculation. None if
    this is ambiguous and matters, if a replaced number is ``unclear``, if the calculations as
    written are wrong or do not end in the answer, or if a new result is negative or, before the
    last step, no longer whole (ten people need a third car of four seats).

    Args:
        problem: The problem as written.
        instead: Replacement by number of the text.
    """
    instead = {number: other for number, other in instead.items() if other != number}
    if any(replacement_fault(problem, number) for number in instead):
        return None
    results: dict[float, float] = {}
    steps, result = [], None
    for step in steps_of(problem.solution):
        torn = any(old.is_integer() and not new.is_integer() for old, new in results.items())
        if torn or _is_ambiguous(problem, step.literals, results, instead):
            return None
        if not _is_right(step):
            return None
        changed = LITERAL.sub(
            lambda n: _replace_number(float(n[0]), results, instead), step.expression
        )
        old, result = step.result, _evaluate(changed)
        if old is None or result is None or result < 0 or results.get(old, result) != result:
            return None
        results[old] = result
        steps.append(f"{changed.strip()} = {format_number(result)}")
    ends_in_answer = bool(results) and list(results)[-1] == parse_number(problem.answer)
    return Solution("\n".join(steps), result) if ends_in_answer and result is not None else None


def _problem(entry: Entry, where: str) -> Problem:
    question, answer = (require_field(entry, name, str, where) for name in ("question", "answer"))
    final = _FINAL.search(answer)
    if final is None or not final[1].strip("$-%")[:1].isdigit() or parse_number(final[1]) is None:
        raise SourceError(f"{where}: the answer does not end in '#### ' and a number: {answer!r}")
    return Problem(
        problem_id=problem_id(question),
        question=question,
        solution=answer[: final.start()].strip(),
        answer=final[1].strip(),
    )


def _is_right(step: SolutionStep) -> bool:
    """Whether a calculation gives its stated result, up to rounding."""
    result = _evaluate(step.expression)
    return result is not None and step.result is not None and abs(result - step.result) <= _ROUNDED


def _is_ambiguous(
    problem: Problem,
    literals: list[float],
    results: Mapping[float, float],
    instead: Mapping[float, float],
) -> bool:
    """Whether a number that equals an earlier result may come from elsewhere."""
    numbers = list_numbers(problem.question)
    return any(
        number in instead
        or (
            results[number] != number  # an unchanged number may come from anywhere
            and (number in numbers or literals.count(number) > 1 or is_implied(number, problem))
        )
        for number in results.keys() & set(literals)
    )


def _replace_number(
    number: float, results: Mapping[float, float], instead: Mapping[float, float]
) -> str:
    return format_number(results.get(number, instead.get(number, number)))


def _evaluate(expression: str) -> float | None:
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
