"""Number answers: with a tolerance, units, percents and lists of numbers."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isclose

from bench_assets.core.answer_types.definition import Gold, RowContext, StatedAnswer
from bench_assets.core.answer_types.options import format_cell, parse_list
from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.reading.numbers import parse_quantity, point_decimals
from bench_assets.core.reading.units import SHARE, Measurement, convert, find_unit
from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.text.number_words import format_number

_DECIMALS = "decimals"
_PLAIN = re.compile(r"-?[\d,]*\.?\d+")  # the number of a key, for its decimals
_PARTS = re.compile(r"\d[\d,.]*\d|\d")  # numbers that a key is written with


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
        size = parse_quantity(text)
        if size is None or size.value < 0 or size.unit not in ("", "%"):
            raise SettingsError(f'tolerance {text!r:.60} (expected "0.5", "5%" or "decimals")')
        return cls(relative=size.value / 100) if size.unit else cls(absolute=size.value)

    def allows(self, number: float, gold: float, decimals: int) -> bool:
        """Whether a number is within the tolerance, its bound included.

        ``by_decimals`` is MathVista's rule: both are rounded to the gold's decimals; without any,
        the number is truncated.
        """
        if self.by_decimals and decimals:
            return round(number, decimals) == round(gold, decimals)
        if self.by_decimals:
            return int(number) == gold
        bound = max(self.absolute, self.relative * abs(gold)) * (1 + 1e-9)
        is_equal = isclose(number, gold, rel_tol=1e-9, abs_tol=1e-12)
        return is_equal or abs(number - gold) <= bound


EXACT = Tolerance()


@dataclass(frozen=True, slots=True)
class NumberAnswer(StatedAnswer):
    """A number, or a list of numbers in order."""

    tolerance: Tolerance = EXACT
    unit: str = ""

    @property
    def instruction(self) -> str:
        """Ask for a number, in the unit."""
        return f"Answer with a number{f' in {self.unit}' if self.unit else ''}."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read a number, with or without a unit, or a list of numbers, which is kept as JSON.

        The number gets the decimals of its row, and a unit if it has none.

        Raises:
            SourceError: If it is no number, or a part of it would be right, too, such as the 1 of
                "100/1 %".
        """
        parsed = parse_list(value)
        entries = parsed if isinstance(parsed, list | tuple) and parsed else [value]
        if len(entries) > 1:
            numbers = [_parse_key(format_cell(entry)).value for entry in entries]
            return Gold("text", (json.dumps(numbers),))
        text = format_cell(entries[0])
        number, key_unit = _parse_key(text)
        unit = key_unit or context.unit or self.unit
        if context.decimals is not None:
            text = f"{number:.{context.decimals}f} {key_unit}".strip()
        gold = Gold("text", (text if key_unit else f"{text} {unit}".strip(),))
        exact = replace(self, tolerance=EXACT)
        for part in _PARTS.findall(text):
            if parse_quantity(part) != Measurement(number) and exact.points((part,), gold):
                raise SourceError(f"answer {text!r:.60}: its part {part!r} would be right, too")
        return gold

    def form(self, gold: Gold) -> AnswerForm:
        """A number, with a decimal comma if the key has one, or a list of numbers."""
        (key,) = gold.answer
        if isinstance(parse_list(key), list):
            return AnswerForm("numbers")
        return AnswerForm("number", decimal_comma=_with_decimal_point(key) != key)

    def answer(self, value: str, gold: Gold) -> tuple[str, ...]:
        """The number in the gold's unit if it can be converted; for a list, each number."""
        if isinstance(parse_list(gold.answer[0]), list):
            return tuple(value.split(", "))
        return (_convert_text(value, _parse_key(gold.answer[0]).unit),)

    def points(self, answer: Sequence[str], gold: Gold) -> float:
        """Give a point for a number, or as many numbers as in the list, within the tolerance."""
        (stored,) = gold.answer
        golds = parse_list(stored)
        if isinstance(golds, list):
            if len(answer) != len(golds):
                return 0.0
            pairs = zip(map(float, answer), golds, strict=True)
            return float(all(self.tolerance.allows(n, key, decimals=0) for n, key in pairs))
        key, quantity = _parse_key(stored), parse_quantity(answer[0])
        values = _possible_values(quantity, key) if quantity else ()
        plain = _PLAIN.match(_with_decimal_point(stored).lstrip("$€£ "))
        decimals = len(plain[0].partition(".")[2]) if plain else 0
        return float(any(self.tolerance.allows(value, key.value, decimals) for value in values))


def _parse_key(text: str) -> Measurement:
    """Number and unit of a key, by the reader of responses."""
    quantity = parse_quantity(_with_decimal_point(text))
    if quantity is None:
        raise SourceError(f"answer {text!r:.60} (expected a number, with or without a unit)")
    return quantity


def _with_decimal_point(text: str) -> str:
    """Write a key's decimal comma as a point; leave a key that is a number already."""
    return text if parse_quantity(text) else point_decimals(text)


def _convert_text(text: str, unit: str) -> str:
    """Write a quantity in a unit; unchanged if either unit is unknown, or of another kind."""
    measurement, target_unit = parse_quantity(text), find_unit(unit)
    if measurement is None or target_unit is None or find_unit(measurement.unit) is None:
        return text
    value = convert(measurement, unit)
    sign = "%" if target_unit.kind == SHARE else ""
    return text if value is None else f"{format_number(value)}{sign}"


def _possible_values(measurement: Measurement, key: Measurement) -> Sequence[float]:
    """Values that a number may mean in the key's unit; () if its unit is of another kind.

    For a percentage, 0.25 is 0.25 % or 25 %. For a key without a unit, "25 %" is 0.25, or 25 if the
    key exceeds 1.
    """
    value = convert(measurement, key.unit)
    if value is None:
        return ()
    key_unit, own_unit = find_unit(key.unit), find_unit(measurement.unit)
    is_percent = own_unit is not None and own_unit.kind == SHARE
    if key_unit is not None and key_unit.kind == SHARE:
        return (value,) if is_percent or abs(value) > 1 else (value, 100 * value)
    if is_percent and not key.unit:
        return (value,) if abs(key.value) > 1 else (value / 100,)
    return (value,)
