"""Numbers in texts: English words of numbers as digits, and numbers in plain digits."""

import re
from collections.abc import Sequence
from decimal import Decimal
from math import prod

NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
"""English words of the numbers 0 to 20, by value."""

_ORDINALS = "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINAL_VALUES = {word: value for value, word in enumerate(_ORDINALS.split(), 3)}
"""Values of English ordinals from 3; "second" is a unit of time too."""

_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORD_VALUES = {word: n for n, word in enumerate(NUMBER_WORDS)} | {
    w: 10 * n for n, w in enumerate(_TENS, 2)
}
_MULTIPLIERS = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 1_000_000}
_MULTIPLIERS |= {"billion": 10**9, "trillion": 10**12}
_MULTIPLIER_PATTERN = "|".join(_MULTIPLIERS)
_WORD = re.compile(
    rf"\b(?:{'|'.join(NUMBER_WORDS[:20] + _TENS)}|(?<!half\s)(?:{_MULTIPLIER_PATTERN}))\b",
    re.IGNORECASE,
)
_MAX_NUMBER_WORDS = 20  # words of one number; bounds "hundred hundred ..."
_WORD_SEPARATOR = re.compile(r"[\s-]*+(?:(?<=\s)and\s+|,\s+(?:and\s+)?)?")  # within a number
_DIRECT_SEPARATOR = re.compile(r"[\s-]")
_NUMBER = re.compile(r"(?<![\w.^])(?<!\^\{)-?\d[\d,]*(?:\.\d+)?")
# For patterns with a suffix; bounded, since a match is tried from every digit of a long list.
_BOUNDED_NUMBER = r"(?<![\w.^])(?<!\^\{)-?\d[\d,]{0,40}(?:\.\d{1,40})?"
_MULTIPLIED_NUMBER = re.compile(  # "25 million"
    rf"(?<!point\s)((?>{_BOUNDED_NUMBER}))((?:(?:\s*|-)(?:{_MULTIPLIER_PATTERN})\b){{1,5}})",
    re.IGNORECASE,
)
_MULTIPLIER = re.compile(_MULTIPLIER_PATTERN, re.IGNORECASE)
_HALF_A_MULTIPLIER = re.compile(  # "half a million"
    rf"\b(?<!and\sa\s)half\s+(?:(?:of\s+)?a\s+)?(?=(?:{_MULTIPLIER_PATTERN})\b)", re.I
)
_FRACTIONS = (
    (re.compile(r"\b(\d+)\s+and\s+a\s+half\b", re.IGNORECASE), r"\1.5"),
    (re.compile(r"\b(\d+)\s+and\s+a\s+quarter\b", re.IGNORECASE), r"\1.25"),
)
_POINT = re.compile(r"\b(\d+)\s+point((?:\s+\d)+)\b", re.IGNORECASE)  # "2 point 5 0"
_AFTER_POINT = re.compile(
    rf"\bpoint(?:\s+(?:{'|'.join(NUMBER_WORDS[:10])}|\d))+\s+\Z", re.IGNORECASE
)
_LEAD = 24  # characters before a number in which "point" is looked for


def list_numbers(text: str) -> list[float]:
    """List the numbers of a text in order, including number words.

    >>> list_numbers("Three cups at $1,200.50 each, twenty-five of a dozen")
    [3.0, 1200.5, 25.0, 12.0]
    """
    return [_parse_digits(number) for number in _NUMBER.findall(words_to_digits(text))]


def words_to_digits(text: str) -> str:
    """Replace number words by digits.

    >>> words_to_digits("two hundred and five cups, half a dozen, 2.5 million, two point five")
    '205 cups, 6, 2500000, 2.5'
    """
    text = _HALF_A_MULTIPLIER.sub("0.5 ", text)
    text = _MULTIPLIED_NUMBER.sub(_expand_multiplier, text)
    parts, end = [], 0
    for words in _group_number_words(text):
        digits = format_number(_number_word_value([word[0].casefold() for word in words]))
        parts += [text[end : words[0].start()], digits]
        end = words[-1].end()
    text = "".join([*parts, text[end:]])
    for fraction, decimals in _FRACTIONS:
        text = fraction.sub(decimals, text)
    text = _POINT.sub(lambda match: f"{match[1]}.{''.join(match[2].split())}", text)
    return _MULTIPLIED_NUMBER.sub(_expand_multiplier, text)


def format_number(number: float) -> str:
    """Format a number in plain digits: whole ones exactly, others to 10 decimals.

    Numbers below 1 have 10 significant digits; none has an exponent, which no parser here reads.

    >>> format_number(5.0), format_number(2.5), format_number(25e9), format_number(5e-9)
    ('5', '2.5', '25000000000', '0.000000005')
    """
    if number % 1:
        number = float(f"{number:.10g}" if abs(number) < 1 else f"{round(number, 10):.15g}")
    return f"{Decimal(str(number)):f}".removesuffix(".0")


def _expand_multiplier(match: re.Match[str]) -> str:
    """Write a number of dozens, thousands or millions in digits."""
    words = map(str.casefold, _MULTIPLIER.findall(match[2]))
    return format_number(_parse_digits(match[1]) * prod(_MULTIPLIERS[word] for word in words))


def _parse_digits(digits: str) -> float:
    return float(digits.replace(",", ""))


def _group_number_words(text: str) -> list[list[re.Match[str]]]:
    """Find the number words of a text, grouped by number."""
    groups: list[list[re.Match[str]]] = []
    for match in _WORD.finditer(text):
        lead = text[max(0, match.start() - _LEAD) : match.start()]
        if match[0].casefold() in _MULTIPLIERS and _AFTER_POINT.search(lead):
            continue  # "two point five million": it multiplies the whole number
        if groups and len(groups[-1]) < _MAX_NUMBER_WORDS and _continues(groups[-1][-1], match):
            groups[-1].append(match)
        else:
            groups.append([match])
    return groups


def _continues(previous: re.Match[str], match: re.Match[str]) -> bool:
    """Whether a word continues the number of the previous word: "twenty-five", "two hundred"."""
    previous_word, word = previous[0].casefold(), match[0].casefold()
    separator = match.string[previous.end() : match.start()]
    if not _WORD_SEPARATOR.fullmatch(separator):
        return False
    if word in _MULTIPLIERS:
        return not separator.strip()
    if previous_word in _MULTIPLIERS:
        return _MULTIPLIERS[previous_word] >= (1000 if "," in separator else 100)
    return (
        _DIRECT_SEPARATOR.fullmatch(separator) is not None
        and _WORD_VALUES[previous_word] >= 20
        and 0 < _WORD_VALUES[word] < 10
    )


def _number_word_value(words: Sequence[str]) -> int:
    """Value of the words of one number: "million" multiplies smaller parts, "dozen" all parts."""
    parts: list[int] = []
    previous = ""
    for word in words:
        if word in _WORD_VALUES:
            parts.append(_WORD_VALUES[word])
        else:
            multiplied = [parts.pop()] if previous in _MULTIPLIERS else []
            while parts and (parts[-1] < _MULTIPLIERS[word] or word == "dozen"):
                multiplied.append(parts.pop())
            parts.append(_MULTIPLIERS[word] * (sum(multiplied) if multiplied else 1))
        previous = word
    return sum(parts)
