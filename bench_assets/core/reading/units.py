"""Units of measurement, and the value of a quantity in another unit of its kind."""

import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bench_assets.core.text.number_words import format_number

SHARE = "share"  # kind of percentages
_FILE = Path(__file__).with_name("units.toml")
_CURRENCIES = ("$", "€", "£", "¥")  # written before a number
_DIMENSIONS = frozenset({"long", "wide", "tall", "high", "deep", "thick"})  # after a unit


class Measurement(NamedTuple):
    """A number and its unit as it is written; "" without one."""

    value: float
    unit: str = ""


class MeasurementUnit(NamedTuple):
    """A unit: its kind, such as length, and its size in the base unit, the first of its kind."""

    kind: str
    size: float


@cache
def _units() -> dict[str, MeasurementUnit]:
    return {
        name: MeasurementUnit(kind, float(size))
        for kind, sizes in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()
        for names, size in sizes.items()
        for name in names.casefold().split(", ")
    }


@cache
def find_unit(name: str) -> MeasurementUnit | None:
    """Find a unit by its name or sign, also before a dimension; None if it is not known.

    >>> find_unit("Feet"), find_unit("ft tall"), find_unit("bananas")
    (MeasurementUnit(kind='length', size=0.3048), MeasurementUnit(kind='length', size=0.3048), None)
    """
    words = name.strip(" .").casefold().split()
    while words and words[-1] in _DIMENSIONS:
        words.pop()
    return _units().get(" ".join(words))


def convert(quantity: Measurement, unit: str) -> float | None:
    """Value of a quantity in a unit; unchanged if either is unknown; None for another kind.

    >>> convert(Measurement(1.2, "m"), "cm"), convert(Measurement(3, "kg"), "cm")
    (120.0, None)
    >>> convert(Measurement(5), "cm"), convert(Measurement(5, "cups"), "cm")
    (5, 5)
    """
    own_unit, target = find_unit(quantity.unit), find_unit(unit)
    if own_unit is None or target is None or own_unit == target:
        return quantity.value
    return quantity.value * own_unit.size / target.size if own_unit.kind == target.kind else None


def format_quantity(quantity: Measurement) -> str:
    """Write a quantity so that ``parse_quantity`` reads it again.

    >>> format_quantity(Measurement(5, "$")), format_quantity(Measurement(12, "cm"))
    ('$5', '12 cm')
    """
    number, unit = format_number(quantity.value), quantity.unit
    if unit in _CURRENCIES:
        return f"{unit}{number}"
    return f"{number}{'' if unit == '%' else ' '}{unit}".strip()
