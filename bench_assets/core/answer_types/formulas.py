"""Formulas: expressions in LaTeX that are equal, whatever their form, by ``math-verify``."""

import logging
import re
import threading
from dataclasses import dataclass
from typing import Any

from bench_assets.core.answer_types.definition import AnswerType, Gold, Grade, RowContext
from bench_assets.core.answer_types.options import format_cell
from bench_assets.core.extras import require_extra
from bench_assets.core.reading.readings import UNREAD
from bench_assets.core.schema.errors import SourceError

_MAX_LENGTH = 20_000  # characters of a response that are read, from its end
_SECONDS = 5  # s for one expression
_DELIMITED = re.compile(r"(?<!\\)\$|\\\(|\\\[|\\boxed")
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class FormulaAnswer(AnswerType):
    r"""A number, an expression, an equation or a set: ``\frac{1}{2}`` is 0.5."""

    instruction: str = r"End with the answer in \boxed{}."

    def __post_init__(self) -> None:
        """Check that the library is installed; raises MissingExtraError if it is not."""
        require_extra('answer_type "formula"', "math_verify")

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read an expression, with or without its dollar signs."""
        text = format_cell(value)
        if not _parse_key(text):
            raise SourceError(f"answer {text!r:.60} (expected a formula in LaTeX)")
        return Gold("text", (text,))

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give a point for an equal expression: in a box, between dollar signs, or alone."""
        (key,) = gold.answer
        expression = _parse(_delimit(response[-_MAX_LENGTH:]))
        if not expression:
            return Grade(points=None, read=(), reason=UNREAD)
        is_equal = _library().verify(_parse_key(key), expression, timeout_seconds=_timeout())
        reason = "" if is_equal else "is another formula"
        return Grade(points=float(is_equal), read=(str(expression[-1]),), reason=reason)


def _delimit(response: str) -> str:
    """Put a response between dollar signs if it is a bare formula, without words."""
    is_formula = not (_DELIMITED.search(response) or _WORD.search(_COMMAND.sub("", response)))
    return f"${response.strip().rstrip('.')}$" if is_formula else response


def _parse_key(key: str) -> list[Any]:
    return _parse(key if _DELIMITED.search(key) else f"${key}$")


def _parse(text: str) -> list[Any]:
    parsed: list[Any] = _library().parse(text, parsing_timeout=_timeout())
    return parsed


def _timeout() -> int | None:
    """Limit of time, s; None outside of the main thread, where the library's signal fails."""
    return _SECONDS if threading.current_thread() is threading.main_thread() else None


def _library() -> Any:  # noqa: ANN401
    import math_verify

    logging.getLogger("math_verify").setLevel(logging.ERROR)  # warns at each call without a limit
    return math_verify
