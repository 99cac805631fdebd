"""Marks of HTML's numbered lists that Markdown lacks: letters, Roman numerals, jumps."""

import re
from collections.abc import Callable, Mapping, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import Tag


def list_marks(numbered: "Tag", entries: Sequence["Tag"]) -> list[str]:
    """Return the marks of a list with letters, Roman numerals, reversal or jumps; else []."""
    styled = _LIST_STYLE.search(str(numbered.get("style", "")))
    kind = styled[1].lower() if styled else str(numbered.get("type", "1"))
    backwards = numbered.has_attr("reversed")
    if kind not in _COUNTED and not backwards and not any(one.has_attr("value") for one in entries):
        return []
    number = _whole(numbered.get("start"), len(entries) if backwards else 1)
    marks = []
    for entry in entries:
        number = _whole(entry.get("value"), number)
        marks.append(_COUNTED.get(kind, str)(number))
        number += -1 if backwards else 1
    return marks


def _whole(written: object, other: int) -> int:
    found = re.fullmatch(r"\s*(-?\d{1,6})\s*", str(written))
    return int(found[1]) if found else other


def _letters(number: int) -> str:
    """Count in letters: A to Z, AA, ...; numbers below 1 stay numbers.

    >>> _letters(3), _letters(28), _letters(0)
    ('C', 'AB', '0')
    """
    letters, rest = "", number
    while rest > 0:
        rest, place = divmod(rest - 1, len(ascii_uppercase))
        letters = ascii_uppercase[place] + letters
    return letters or str(number)


def _roman(number: int) -> str:
    """Count in Roman numerals from 1 to 3999; other numbers stay numbers.

    >>> _roman(4), _roman(1990), _roman(0)
    ('IV', 'MCMXC', '0')
    """
    if not 0 < number < 4000:
        return str(number)
    written = ""
    for value, sign in _ROMAN:
        times, number = divmod(number, value)
        written += sign * times
    return written


_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_LIST_STYLE = re.compile(
    r"list-style(?:-type)?\s*:[^;]*?\b((?:upper|lower)-(?:alpha|latin|roman))\b", re.IGNORECASE
)
_COUNTED: Mapping[str, Callable[[int], str]] = {
    **dict.fromkeys(
        ("a", "A", "upper-alpha", "lower-alpha", "upper-latin", "lower-latin"), _letters
    ),
    **dict.fromkeys(("i", "lower-roman"), lambda number: _roman(number).lower()),
    **dict.fromkeys(("I", "upper-roman"), _roman),
}
"""Numbering that Markdown lacks, by ``type`` or CSS; letters are upper case, as options are."""
