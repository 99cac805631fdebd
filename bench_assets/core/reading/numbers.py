"""Numbers: the number that a text is, with its unit, and the one that a response gives."""

import re
from collections.abc import Callable
from functools import lru_cache
from unicodedata import normalize

from bench_assets.core.reading.readings import UNREADABLE, Reading, Unreadable, plain_text, read
from bench_assets.core.reading.rules import Extent, part
from bench_assets.core.reading.units import Measurement, find_unit
from bench_assets.core.text.number_words import format_number, words_to_digits

_SCALES = {"k": 1e3, "M": 1e6, "mn": 1e6, "B": 1e9, "bn": 1e9, "tn": 1e12, "万": 1e4, "亿": 1e8}
_PAIR_LENGTH = 100  # characters before the second number of a pair; bounds the time
_MAX_EXPONENT = 100  # largest exponent of ten
_MAX_LENGTH = 200  # characters; a longer text is no number
_NO_UNIT = ("", "%", "$", "€", "£", "¥")
_NOTATIONS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"\\[dt]?frac\s*\{(-?[\d.]+)\}\s*\{([\d.]+)\}"), r" \1/\2"),
    (re.compile(r"\\(?:([%$])|[!,])"), r"\1"),
    (re.compile("[¼-¾⅐-⅞]"), lambda match: f" {normalize('NFKC', match[0]).replace('⁄', '/')}"),
    (re.compile("(?<=[0-9])[²³¹⁰-⁹⁻]+"), lambda match: f"^{normalize('NFKC', match[0])}"),
    (re.compile(r"(?:[−–]|\A\s*−\s+)(?=[$€£¥]?[0-9.])"), "-"),
    (re.compile(r"\{,\}"), ","),
    (  # 1 000; 1'000
        re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u2009\u202f'’]\d{3})+(?!\d)"),
        lambda match: re.sub(r"\D", "", match[0]),
    ),
)
_THOUSANDS_OR_COMMA = re.compile(
    r"(?P<thousands>(?<![\d.,])[1-9]\d{0,2}(?:\.\d{3})+(?!\d))|(?<=\d),(?=\d)"
)
_SEPARATOR = re.compile(r"[;、，\n]\s*|,(?!\d{3}(?!\d))\s*(?:and\s+)?|\s+and\s+")  # in a list
_BRACKETED = re.compile(r"\s*[\[({]([^\])}]*)[\])}]")
_FRACTION = re.compile(r"hal(?:f|ves)|quarters?|thirds?|(?:four|fif|six|seven|eigh|nin|ten)ths?")


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Measurement | None:
    r"""Parse a text that is one number, with or without a unit; None if it is anything else.

    >>> parse_quantity("3 1/2"), parse_quantity(r"\frac{5}{8} inch"), parse_quantity("7-8")
    (Measurement(value=3.5, unit=''), Measurement(value=0.625, unit='inch'), None)
    >>> parse_quantity("$1.5×10^3"), parse_quantity("twenty-five")
    (Measurement(value=1500.0, unit='$'), Measurement(value=25.0, unit=''))
    """
    if len(text) > _MAX_LENGTH:
        return None
    text = _to_plain_notation(part("markup").sub("", text))
    has_digits = re.search(r"\d", text) is not None
    text = words_to_digits(text)
    if not has_digits and _FRACTION.search(text):  # two thirds
        return None
    match = part("quantity").fullmatch(text.strip())
    return _match_quantity(match) if match else None


def _to_plain_notation(text: str) -> str:
    """Write the numbers of a text in plain signs."""
    for pattern, replacement in _NOTATIONS:
        text = pattern.sub(replacement, text)
    return text


def point_decimals(text: str) -> str:
    """Write decimal commas as points, and points of thousands as commas.

    >>> point_decimals("1.200,50 or 3,5 or 3.5 or 0.500")
    '1,200.50 or 3.5 or 3.5 or 0.500'
    """

    def swap(match: re.Match[str]) -> str:
        return match["thousands"].replace(".", ",") if match["thousands"] else "."

    return _THOUSANDS_OR_COMMA.sub(swap, text)


def _match_quantity(match: re.Match[str]) -> Measurement | None:
    """The quantity of a match; None without digits, or if it cannot be computed."""
    denominator = float(match["below"] or 1)
    exponent = int(match["power"] or match["exponent"] or 0)
    if not re.search(r"\d", match["number"]) or not denominator or abs(exponent) > _MAX_EXPONENT:
        return None
    value = float(match["number"].replace(",", "")) / denominator + float(match["whole"] or 0)
    value *= 10.0**exponent * _SCALES.get(match["scale"] or "", 1.0)
    unit = match["unit"].strip(" .'\"()/-") or match["currency"]
    return Measurement(-value if match["sign"] else value, unit)


def parse_number(text: str) -> float | None:
    """Parse a text that is one number, with or without a sign of money or percent.

    >>> parse_number("25%"), parse_number("1.5 million"), parse_number("4 cups")
    (25.0, 1500000.0, None)
    """
    quantity = parse_quantity(text)
    return quantity.value if quantity and quantity.unit in _NO_UNIT else None


def read_number(response: str) -> Reading[Measurement] | None:
    r"""Read the number that a response gives; a percentage keeps its printed number.

    >>> read_number("10*30 = 300 balloons, minus 12.\nA: 288").value
    Measurement(value=288.0, unit='')
    """
    return read("number", response, _find_number)


def read_numbers(response: str) -> Reading[str] | None:
    """Read the list of numbers that a response gives, in its order; see ``read_number``.

    >>> read_numbers("There are 3 steps. The answer is [1, 2.5].").value
    '1, 2.5'
    """
    if numbers := _find_numbers(plain_text(response).text, "answer"):
        return Reading(value=numbers, form="whole response", evidence=(0, len(response)))
    return read("number", response, _find_numbers)


def _find_numbers(text: str, extent: Extent) -> str | None:
    """The numbers that a text lists as a whole, or in brackets at its start, or mentions."""
    if extent == "mention":
        texts = [match[0] for match in part("numbers").finditer(text)]
    else:
        bracketed = _BRACKETED.match(text)
        listed = bracketed[1] if bracketed and extent == "opening" else text.strip(" .。()[]{}")
        texts = _SEPARATOR.split(listed)
    numbers = [quantity.value for quantity in map(parse_quantity, texts) if quantity]
    is_list = numbers and len(numbers) == len(texts)
    return ", ".join(map(format_number, numbers)) if is_list else None


def _find_number(text: str, extent: Extent) -> Measurement | Unreadable | None:
    """The number that a text is, the one that it opens with, or the result of a sentence."""
    whole = parse_quantity(text)
    if whole or extent == "answer":
        return whole
    if part("second_number").match(text):
        return UNREADABLE if extent == "opening" else None
    if quantity := parse_quantity(part("clause_end").split(text, maxsplit=1)[0]):
        return quantity
    if quantity := parse_quantity(text.rpartition("=")[2]):
        return quantity
    if extent == "mention":
        return _find_result(_to_plain_notation(text))
    return _find_only_number(text)


def _find_only_number(text: str) -> Measurement | None:
    """The only number of a text; None if the text denies or calculates, or if it is a bound."""
    numbers = [*part("numbers").finditer(text)]
    if len(numbers) != 1 or part("arithmetic").search(text) or part("denial").search(text):
        return None
    start = numbers[0].start()
    is_bound = part("bound").match(text, start) or part("operator").search(text[:start])
    return None if is_bound else _with_unit(text, numbers[0])


def _find_result(text: str) -> Measurement | None:
    """The number after the last "=", else the last one that is no bound; None for 2 or 3."""
    result = part("numbers").search(text, text.rfind("=") + 1) if "=" in text else None
    numbers = part("numbers").finditer(text)
    unbound = [number for number in numbers if not part("bound").match(text, number.start())]
    if result is None and not unbound:
        return None
    number = result or unbound[-1]
    start = number.start()
    pairs = part("second_number").finditer(text, max(0, start - _PAIR_LENGTH), start + 1)
    is_second = any(pair.start() < start < pair.end() for pair in pairs)  # 2 or 3
    if is_second or part("operator").search(text[:start]):  # 2 + 3; not 3
        return None
    return _with_unit(text, number)


def _with_unit(text: str, number: re.Match[str]) -> Measurement | None:
    """The quantity at a number in a text: its scale counts, and its unit if that is known."""
    rest = words_to_digits(text[number.start() :])
    digits, match = part("numbers").match(rest), part("quantity").match(rest)
    if digits and digits[0] != number[0] and part("second_number").match(rest):
        return None  # 3 hundred and forty one
    quantity = _match_quantity(match) if match else None
    is_scaled = match and (match["scale"] or match["power"] or match["exponent"])
    if is_scaled or (quantity and find_unit(quantity.unit)):
        return quantity
    return parse_quantity(digits[0]) if digits else None
