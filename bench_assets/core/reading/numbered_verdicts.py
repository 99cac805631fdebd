"""Verdicts on numbered points, such as "1. [1]  2. [0]".

Also "1. 1", the key point between number and verdict, "yes" and "no", JSON, and exactly as many
verdicts as points without any numbers. A point without a verdict, or with two that differ, is None.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator

from bench_assets.core.reading.json_values import decode_json, read_json
from bench_assets.core.reading.reasoning import strip_reasoning

_MAX_LINE = 1000  # characters; longer lines are no verdicts, and would take long
_WORDS = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}
_MARKUP = re.compile(r"[*_`\"“”'|]")
_NUMBER = r"\(?(?<![\w.])(\d{1,3})(?:\)|(?![\w.\])]|\.\d)|(?=\.(?:\D|\Z)))\s*(?:[.):=]|->|→|-)*\s*"
_BRACKETS = r"\[\s*([^\[\]\n]{0,20}?)\s*\]"
_WORD = rf"({'|'.join(_WORDS)})(?=[\s,;]|[.!](?:\s|\Z)|\Z)"
_ITEM, _BARE_ITEM = re.compile(rf"{_NUMBER}{_BRACKETS}"), re.compile(rf"(?i:{_NUMBER}{_WORD})")
_ITEMS = re.compile(  # the last one may be cut off
    rf"(?:[^\d\[\]]*:)?\s*(?:{_NUMBER}{_BRACKETS}[\s,;.!]*)+(?:{_NUMBER}(?:\[[^\]]*)?)?"
)
_BARE_ITEMS = re.compile(rf"\s*(?i:{_NUMBER}{_WORD}[\s,;.!]*)+")
_LINE = re.compile(rf"[^\d\[\]]{{0,20}}?{_NUMBER}(?P<point>.*?){_BRACKETS}[\s.,;!]*")
_LISTED = re.compile(rf"\s*(?:{_BRACKETS}[\s,;]*)+")


def read_numbered_verdicts(response: str, n: int) -> list[bool | None]:
    r"""Read the verdict on each of n points by the number printed before it.

    Numbers above n are ignored.

    >>> read_numbered_verdicts("2. [0]  1.[1]", 3), read_numbered_verdicts("1. [ ] 2. [1]", 2)
    ([True, False, None], [None, True])
    >>> read_numbered_verdicts("1. **[1]**\n2. A boy falls. [NO]", 2)
    [True, False]
    """
    text = unicodedata.normalize("NFKC", strip_reasoning(response))
    verdicts: dict[int, set[bool | None]] = defaultdict(set)
    for number, word in _from_json(text, n) or _from_lines(_MARKUP.sub("", text), n):
        verdicts[number].add(_WORDS.get(word.casefold()))
    return [verdicts[k].pop() if len(verdicts[k]) == 1 else None for k in range(1, n + 1)]


def _from_lines(text: str, n: int) -> Iterator[tuple[int, str]]:
    """Numbers with their words, line by line; without any number, all words in order."""
    alone = text.strip(" \n.[]()!")
    if n == 1 and alone.casefold() in _WORDS:
        yield 1, alone
    elif _LISTED.fullmatch(text):
        words = re.findall(_BRACKETS, text)
        yield from enumerate(words if len(words) == n else [], 1)
    else:
        for line in text.splitlines():
            yield from _from_line(line)


def _from_line(line: str) -> Iterator[tuple[int, str]]:
    """The items of a line, or its one point with the verdict at its end."""
    if len(line) > _MAX_LINE:
        return
    if _ITEMS.fullmatch(line):
        yield from ((int(number), word) for number, word in _ITEM.findall(line))
    elif _BARE_ITEMS.fullmatch(line):
        yield from ((int(number), word) for number, word in _BARE_ITEM.findall(line))
    elif (match := _LINE.fullmatch(line)) and "[" not in match["point"]:
        yield int(match[1]), match[3]


def _from_json(text: str, n: int) -> list[tuple[int, str]]:
    """Verdicts of an object by number, or of a list of n."""
    value = decode_json(text)
    value = read_json(text) if value is None and "{" in text else value
    if isinstance(value, dict) and len(value) == 1 and not re.search(r"\d", "".join(value)):
        (value,) = value.values()  # {"verdicts": {"1": 1}}
    if isinstance(value, list):
        return (
            [(k, _word(verdict)) for k, verdict in enumerate(value, 1)] if len(value) == n else []
        )
    pairs = value.items() if isinstance(value, dict) else ()
    numbers = [(re.findall(r"\d+", str(key)), _word(verdict)) for key, verdict in pairs]
    return [(int(number[0]), word) for number, word in numbers if len(number) == 1]


def _word(verdict: object) -> str:
    if isinstance(verdict, list) and len(verdict) == 1:
        return _word(verdict[0])
    return str(verdict).strip(" []")
