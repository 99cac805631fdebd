"""Numbers: the number that a text is, with its unit, and the one that a response gives."""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from bench_assets.core.reading.readings import UNREADABLE, Reading, Unreadable, read
from bench_assets.core.reading.rules import Extent, part
from bench_assets.core.text.number_words import words_to_digits

_SCALES = {
    **{"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12},
    **{"dozen": 12.0, "k": 1e3, "M": 1e6, "mn": 1e6, "B": 1e9, "bn": 1e9, "tn": 1e12},
    **{"万": 1e4, "亿": 1e8},
}
_MAX_EXPONENT = 100
_MAX_LENGTH = 200  # characters; a longer text is no number
_NO_UNIT = ("", "%", "$", "€", "£", "¥")
_NOTATIONS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\\[dt]?frac\s*\{(-?[\d.]+)\}\s*\{([\d.]+)\}"), r" \1/\2"),
    (re.compile(r"\\([%$])"), r"\1"),
    (re.compile(r"\\[!,]"), ""),
    (re.compile("[¼-¾⅐-⅞]"), lambda found: f" {_compatible(found[0]).replace('⁄', '/')}"),
    (re.compile("(?<=[0-9])[²³¹⁰-⁹⁻]+"), lambda found: f"^{_compatible(found[0])}"),
    (re.compile("[−–](?=[0-9.])"), "-"),
    (re.compile(r"\{,\}"), ","),
    (  # 1 000; 1'000
        re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?!\d)"),
        lambda found: re.sub(r"\D", "", found[0]),
    ),
    (  # 1.200,50
        re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d+(?![\d,])"),
        lambda found: found[0].replace(".", "").replace(",", "."),
    ),
    (re.compile(r"(?<![\d.,(])(\d+),(\d{1,2})(?![\d,])"), r"\1.\2"),  # 3,5
)
_CALCULATION = re.compile(r"<<.*?>>")  # GSM8K's


class Quantity(NamedTuple):
    """A number and its unit as it is written; "" without one."""

    value: float
    unit: str = ""


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Quantity | None:
    r"""Parse a text that is one number, with or without a unit; None if it is anything else.

    >>> parse_quantity("3 1/2"), parse_quantity(r"\frac{5}{8} inch"), parse_quantity("7-8")
    (Quantity(value=3.5, unit=''), Quantity(value=0.625, unit='inch'), None)
    >>> parse_quantity("$1.5×10^3"), parse_quantity("twenty-five")
    (Quantity(value=1500.0, unit='$'), Quantity(value=25.0, unit=''))
    """
    if len(text) > _MAX_LENGTH:
        return None
    text = part("markup").sub("", text)
    for pattern, instead in _NOTATIONS:
        text = pattern.sub(instead, text)
    if not re.search(r"\d", text):
        text = words_to_digits(text)
    found = part("quantity").fullmatch(text.strip())
    if not found or not re.search(r"\d", found["number"]):
        return None
    value = float(found["number"].replace(",", ""))
    below = float(found["below"] or 1)
    exponent = int(found["power"] or found["exponent"] or 0)
    if not below or abs(exponent) > _MAX_EXPONENT:
        return None
    value = (value / below + float(found["whole"] or 0)) * 10.0**exponent
    value *= _SCALES.get(found["scale"] or "", 1.0)
    unit = found["unit"].strip(" .'\"()/-") or found["currency"]
    return Quantity(-value if found["sign"] else value, unit)


def parse_number(text: str) -> float | None:
    """Parse a text that is one number, with or without a sign of money or percent.

    >>> parse_number("25%"), parse_number("1.5 million"), parse_number("4 cups")
    (25.0, 1500000.0, None)
    """
    found = parse_quantity(text)
    return found.value if found and found.unit in _NO_UNIT else None


def read_number(response: str, *, named: bool = True) -> Reading[Quantity] | None:
    r"""Read the number that a response gives; a percentage keeps its printed number.

    Args:
        response: The response, without the model's reasoning.
        named: Whether the result of the last sentence counts, if no form states it.

    >>> read_number("10*30 = 300 balloons, minus 12.\nA: 288").value
    Quantity(value=288.0, unit='')
    """
    return read("number", response, _number_in, named=named)


def _number_in(text: str, extent: Extent) -> Quantity | Unreadable | None:
    """A text that is a number; the number that it opens with; or the result of a sentence."""
    whole = parse_quantity(text)
    if whole or extent == "answer":
        return whole
    if extent == "opening" and part("second_number").match(text):
        return UNREADABLE
    for shorter in (text.rpartition("=")[2], part("clause_end").split(text, maxsplit=1)[0]):
        if (found := parse_quantity(shorter)) is not None:
            return found
    side = text.rpartition("=")[2] if extent == "mention" else text
    numbers = part("numbers").findall(_CALCULATION.sub("", side)) or part("numbers").findall(text)
    if extent == "opening":
        is_one = len(numbers) == 1 and not part("arithmetic").search(text)
        return parse_quantity(numbers[0]) if is_one else None
    return parse_quantity(numbers[0] if side != text else numbers[-1]) if numbers else None


def _compatible(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
