"""Number answers: with a tolerance, units, percents and lists of numbers."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose, isfinite
from unicodedata import normalize

from bench_assets.core.answer_types.definition import Gold, Grade, RowContext
from bench_assets.core.answer_types.options import format_cell, parse_list
from bench_assets.core.answer_types.units import convert_to_unit, find_unit
from bench_assets.core.parsing import numbers
from bench_assets.core.parsing.numbers import final_number
from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.schema.rows import AnswerKind

_DECIMALS = "decimals"
_TOLERANCE = re.compile(r"([0-9.]+)\s*(%?)")
_GOLD = re.compile(
    r"(?P<sign>[$€£])?\s*(?P<number>-?(?:\d[\d,]*)?\.?\d+(?:e[+-]?\d+)?)\s*(?P<unit>\D.*)?", re.I
)
_PERCENT = re.compile(r"(?<=\d)\s?(?:%|per ?cent\b|pct\b)", re.IGNORECASE)
_REWRITES = (
    (re.compile(r"(?<=\d)[\u00a0\u2009\u202f’'](?=\d{3}(?!\d))"), ","),  # thousands: 1'200
    (re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d+(?![\d,])"), "."),  # 1.200,50
    (re.compile(r"(?<![\d.,])(\d+),(\d{1,2})(?![\d,])"), r"\1.\2"),  # 3,5
)
_POWERS = re.compile(
    r"(?<![\w.])(-?\d+(?:\.\d+)?)\s*(?:e\s?|(?:[×x·*]|\\times)\s*10\s*\^\s*\{?)([+-]?\d{1,2})\}?(?!\w)",
    re.IGNORECASE,
)
_SUPERSCRIPT_EXPONENT = re.compile(r"(?<=10)[\u00b2-\u00b9\u2070-\u207f]+")
_ABBREVIATED_NUMBER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(k|M|B|bn|mn|tn)\b")
_MULTIPLIERS = {"k": 1e3, "M": 1e6, "mn": 1e6, "B": 1e9, "bn": 1e9, "tn": 1e12}


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a number may be from the gold: absolute, relative, or rounded to its decimals."""

    absolute: float = 0.0
    relative: float = 0.0
    by_decimals: bool = False

    @classmethod
    def of(cls, text: str) -> "Tolerance":
        """Parse a setting.

        Raises:
            SettingsError: If the text is not a tolerance.

        >>> Tolerance.of("5%")
        Tolerance(absolute=0.0, relative=0.05, by_decimals=False)
        """
        if text in ("", _DECIMALS):
            return cls(by_decimals=text == _DECIMALS)
        found = _TOLERANCE.fullmatch(text.strip())
        try:
            size = float(found[1]) if found else -1.0
        except ValueError:
            size = -1.0
        if found is None or size < 0:
            raise SettingsError(f'tolerance {text!r:.60} (expected "0.5", "5%" or "decimals")')
        return cls(relative=size / 100) if found[2] else cls(absolute=size)

    def allows(self, number: float, gold: float, decimals: int) -> bool:
        """Whether a number is within the tolerance, its bound included.

        ``by_decimals`` is MathVista's rule: both are rounded to the gold's decimals; without any,
        the number is truncated.
        """
        if self.by_decimals:
            if decimals == 0:
                return int(number) == gold
            return round(number, decimals) == round(gold, decimals)
        bound = max(self.absolute, self.relative * abs(gold))
        return isclose(number, gold, rel_tol=1e-9, abs_tol=1e-12) or (
            abs(number - gold) <= bound * (1 + 1e-9)
        )


EXACT = Tolerance()


@dataclass(frozen=True, slots=True)
class NumberAnswer:
    """A number, or a list of numbers in order."""

    tolerance: Tolerance = EXACT
    unit: str = ""
    kind: AnswerKind = "text"

    @property
    def instruction(self) -> str:
        """Ask for a number, in the unit."""
        return f"Answer with a number{f' in {self.unit}' if self.unit else ''}."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read a number, with or without a unit, or a list of numbers."""
        found = parse_list(value)
        if isinstance(found, list | tuple) and len(found) > 1:
            return Gold(
                self.kind, (json.dumps([_parse_gold_number(format_cell(one))[0] for one in found]),)
            )
        text = format_cell(found[0] if isinstance(found, list | tuple) and found else value)
        number, unit = _parse_gold_number(text)
        unit = unit or context.unit or self.unit
        digits = text if context.decimals is None else f"{number:.{context.decimals}f}"
        number_text = digits if context.decimals is not None else _GOLD.fullmatch(text)["number"]  # type: ignore[index]
        return Gold(self.kind, (f"{number_text} {unit}".strip(),))

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give a point for a number within the tolerance."""
        (stored,) = gold.answer
        if isinstance(golds := parse_list(stored), list):
            return self._grade_list(response, golds)
        found = _GOLD.fullmatch(stored)
        assert found is not None, stored
        number, unit = float(found["number"].replace(",", "")), (found["unit"] or "").strip()
        value = _read(response, unit)
        if value is None or not isfinite(value):
            return Grade(None, (), "no number, or several")
        decimals = len(found["number"].partition(".")[2])
        right = any(
            self.tolerance.allows(one, number, decimals)
            for one in _possible_values(value, response, number, unit)
        )
        return Grade(float(right), (numbers.format_number(value),), "")

    def _grade_list(self, response: str, golds: Sequence[float]) -> Grade:
        values = numbers.list_numbers(response)
        if len(values) != len(golds):
            return Grade(0.0 if values else None, tuple(map(numbers.format_number, values)), "")
        near = (self.tolerance.allows(a, b, 0) for a, b in zip(values, golds, strict=True))
        return Grade(float(all(near)), tuple(map(numbers.format_number, values)), "")


def _parse_gold_number(text: str) -> tuple[float, str]:
    """Number and unit of a gold."""
    found = _GOLD.fullmatch(text.strip())
    if found is None:
        raise SourceError(f"answer {text!r:.60} (expected a number, with or without a unit)")
    return float(found["number"].replace(",", "")), (found["sign"] or found["unit"] or "").strip()


def _read(response: str, unit: str) -> float | None:
    """Read the final number of a response, converted to the unit."""
    text = _SUPERSCRIPT_EXPONENT.sub(lambda found: f"^{normalize('NFKC', found[0])}", response)
    text = text.replace("−", "-")
    (thousands, comma), (points, _), (decimal, point) = _REWRITES
    text = thousands.sub(comma, text)
    text = points.sub(lambda found: found[0].replace(".", "").replace(",", "."), text)
    text = decimal.sub(point, text)
    text = _POWERS.sub(lambda found: numbers.format_number(float(f"{found[1]}e{found[2]}")), text)
    text = _ABBREVIATED_NUMBER.sub(
        lambda found: numbers.format_number(float(found[1]) * _MULTIPLIERS[found[2]]), text
    )
    return final_number(convert_to_unit(text, unit))


def _possible_values(said: float, response: str, gold: float, unit: str) -> Sequence[float]:
    """What a number may mean: "25 %" is 0.25, unless the gold is a percentage itself."""
    percent = _PERCENT.search(response) is not None
    named = find_unit(unit)
    if named is not None and named.kind == "share":
        return (said,) if percent or abs(said) > 1 else (said, 100 * said)
    if percent and not unit:
        return (said,) if abs(gold) > 1 else (said / 100,)
    return (said,)
