"""Units of measurement: converts the quantities of a text to another unit of their kind."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bench_assets.core.parsing.numbers import format_number, words_to_digits
from bench_assets.core.parsing.word_lists import section_lines, section_names

OTHER_UNIT = "(in another unit)"
"""Replaces a quantity of another kind, such as a mass where a length was asked for."""

_FILE = Path(__file__).with_name("units.txt")
_QUANTITY = (
    r"(?P<sign>-?[$€£])\s?(?P<money>\d[\d,]*(?:\.\d+)?)"
    r"|(?<![\w.,])(?P<number>-?\d[\d,]*(?:\.\d+)?)[\s-]?(?P<unit>UNITS)(?![\w²³^/])"
)
_PREPOSITION_IN = re.compile(  # after a number: "5 in the box", "1 in 5", but not "5 in wide"
    r"\s?in[^\S\n]+(?!(?:by|wide|long|tall|high|thick|deep)\b)[a-z\d]", re.IGNORECASE
)


class MeasurementUnit(NamedTuple):
    """A unit: what it measures, and its size in the base unit, the first of its kind."""

    kind: str
    size: float


@cache
def _units() -> dict[str, MeasurementUnit]:
    units: dict[str, MeasurementUnit] = {}
    for kind in section_names(_FILE):
        for line in section_lines(_FILE, kind):
            names, _, size = line.rpartition(" = ")
            unit = MeasurementUnit(kind, float(size))
            units |= dict.fromkeys(names.casefold().split(", "), unit)
    return units


@cache
def _quantity() -> re.Pattern[str]:
    names = "|".join(re.escape(name) for name in sorted(_units(), key=len, reverse=True))
    return re.compile(_QUANTITY.replace("UNITS", names), re.IGNORECASE)


@cache
def find_unit(name: str) -> MeasurementUnit | None:
    """Find a unit by its name or sign; None if it is not known.

    >>> find_unit("Feet"), find_unit("bananas")
    (MeasurementUnit(kind='length', size=0.3048), None)
    """
    return _units().get(name.strip().strip(".").casefold())


def convert_to_unit(text: str, name: str) -> str:
    """Convert the quantities of a text to a unit, and drop the units' names.

    Those of another kind are replaced by ``OTHER_UNIT``; nothing changes if the unit is unknown.

    >>> (
    ...     convert_to_unit("It is 1.2 m long.", "cm"),
    ...     convert_to_unit("5 feet 3 inches", "in"),
    ...     convert_to_unit("3 kg", "cm"),
    ... )
    ('It is 120 long.', '63', '(in another unit)')
    """
    wanted = find_unit(name)
    if wanted is None:
        return text
    text = text if re.search(r"\d", text) else words_to_digits(text)
    parts, end, last = [], 0, None
    for found in _quantity().finditer(text):
        size = _size(found, wanted)
        if size is None:
            continue
        between, unit = text[end : found.start()], size[1]
        if last and unit and unit.kind == wanted.kind and _continues_quantity(between, last, unit):
            parts[-1] = format_number(float(parts[-1]) + size[0] / wanted.size)
        elif unit.kind == wanted.kind:
            parts += [between, format_number(size[0] / wanted.size)]
        else:
            parts += [between, OTHER_UNIT]
        end, last = found.end(), unit if unit.kind == wanted.kind else None
    return "".join([*parts, text[end:]])


def _size(found: re.Match[str], wanted: MeasurementUnit) -> tuple[float, MeasurementUnit] | None:
    """Size of a quantity in its base unit, and its unit; None for a word that may be no unit."""
    sign = found["sign"]
    name = sign[-1] if sign else found["unit"].casefold()
    unit = _units()[name]
    if len(name) == 1 and name.isalpha() and unit.kind != wanted.kind:
        return None  # "5 a day"
    if name == "in" and _PREPOSITION_IN.match(found.string, found.end("number")):
        return None
    number = float((found["money"] if sign else found["number"]).replace(",", ""))
    return (-number if sign and sign[0] == "-" else number) * unit.size, unit


def _continues_quantity(between: str, last: MeasurementUnit, unit: MeasurementUnit) -> bool:
    """Whether a smaller unit continues a quantity: "5 feet 3 inches", "1 hour and 30 min"."""
    return unit.size < last.size and re.fullmatch(r",?\s*(?:and\s+)?", between) is not None
