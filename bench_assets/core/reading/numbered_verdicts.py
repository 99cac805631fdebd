"""Verdicts on numbered points, in the form that judges are asked for: "1. [1]  2. [0]".

The key point may stand between number and verdict. A point without a verdict, or with two that
differ, is None.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence

from bench_assets.core.reading.reasoning import strip_reasoning

_MAX_LINE = 1000  # characters; longer lines are no verdicts, and would take long
_WORDS = {"1": True, "yes": True, "true": True, "0": False, "no": False, "false": False}
_MARKUP = re.compile(r"[*_`\"“”'|]")
_NUMBER = r"\(?(?<![\w.])(\d{1,3})(?:\)|(?![\w.\])]|\.\d)|(?=\.(?:\D|\Z)))\s*(?:[.):=]|->|→|-)*\s*"
_BRACKETS = r"\[\s*([^\[\]\n]{0,20}?)\s*\]"
_ITEM = re.compile(f"{_NUMBER}{_BRACKETS}")
_ITEMS = re.compile(  # the last one may be cut off
    rf"(?:[^\d\[\]]*:)?\s*(?:{_NUMBER}{_BRACKETS}[\s,;.!]*)+(?:{_NUMBER}(?:\[[^\]]*)?)?"
)
_LINE = re.compile(rf"[^\d\[\]]{{0,20}}?{_NUMBER}(?P<point>.*?){_BRACKETS}[\s.,;!]*")


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
    for line in _MARKUP.sub("", text).splitlines():
        for number, word in _read_line(line):
            verdicts[int(number)].add(_WORDS.get(word.casefold()))
    points = (verdicts[number] for number in range(1, n + 1))
    return [point.pop() if len(point) == 1 else None for point in points]


def _read_line(line: str) -> Sequence[tuple[str, str]]:
    """Numbers and verdicts of a line of items, or of one point with the verdict at its end.

    Other lines give ().
    """
    if len(line) > _MAX_LINE:
        return ()
    if _ITEMS.fullmatch(line):
        return _ITEM.findall(line)
    if (item := _LINE.fullmatch(line)) is None:
        return ()
    number, point, verdict = item.groups()
    return () if "[" in point else [(number, verdict)]
