"""Arithmetic in exact fractions: sums, differences, products, quotients and small powers."""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

from bench_assets.core.text.number_words import format_number

MAX_POWER = 10  # largest exponent in a calculation

_LITERAL = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_LEADING_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")
_OPERATORS: Mapping[type, Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def evaluate(
    expression: str, replacements: Mapping[Fraction, Fraction] = MappingProxyType({})
) -> Fraction:
    """Evaluate an arithmetic expression, after replacing some of its numbers.

    Raises:
        ValueError: If it is not arithmetic, or divides by zero.

    >>> evaluate("3*(4+0.5)"), evaluate("3*4", {Fraction(3): Fraction(5)})
    (Fraction(27, 2), Fraction(20, 1))
    """
    try:
        source = _LEADING_ZEROS.sub("", expression.strip())
        return _evaluate_node(ast.parse(source, mode="eval").body, replacements)
    except (SyntaxError, ZeroDivisionError, RecursionError, MemoryError) as error:
        raise ValueError(f"{expression!r} is no arithmetic expression: {error}") from error


def substitute(expression: str, replacements: Mapping[Fraction, Fraction]) -> str:
    """Replace numbers in the text of an expression.

    >>> substitute("5*2", {Fraction(5): Fraction(7)})
    '7*2'
    """
    digits = {number: format_number(float(value)) for number, value in replacements.items()}
    return _LITERAL.sub(lambda match: digits.get(Fraction(match[0]), match[0]), expression)


def _evaluate_node(node: ast.expr, replacements: Mapping[Fraction, Fraction]) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as value):
            number = Fraction(str(value))
            return replacements.get(number, number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate_node(operand, replacements)
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            if 1 <= power <= MAX_POWER:  # 0^0 has no value
                return _evaluate_node(base, replacements) ** power
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            operands = (_evaluate_node(operand, replacements) for operand in (left, right))
            return _OPERATORS[type(sign)](*operands)
    raise ValueError(f"no sum, difference, product or quotient: {ast.unparse(node)}")
