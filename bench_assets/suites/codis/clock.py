"""Times of day in replies, and the minutes that a possible answer allows.

A possible answer that is a time says what is right: "6:09 (answers from 6:07 to 6:10 are all
right)". A reply that names other minutes as well, or the other half of the day, is no such answer.
"""

import re
from collections.abc import Sequence

_RANGE = re.compile(r"answers from (\d+):(\d\d) to (\d+):(\d\d) are all right")
_TO_TWENTY = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_SMALL = {word: number for number, word in enumerate(_TO_TWENTY.split(), 1)}
_SMALL |= {"quarter": 15, "half": 30}
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_NUMBER = rf"(?:(?:{'|'.join(_TENS)})(?:[- ](?:{'|'.join(_SMALL)}))?|{'|'.join(_SMALL)}|\d\d?)"
_HALF = (
    r"(?:\s*(?:in the )?(?P<half>a\.?m\b|p\.?m\b|morning|afternoon|evening)"
    r"|\s*(?P<night>at night))?"
)
_DIGITS = re.compile(rf"(?<![\d:.])(?P<hour>\d\d?)[:.h](?P<minute>\d\d)(?!\d){_HALF}")
_PAST = re.compile(
    rf"\b(?P<minute>{_NUMBER})(?: minutes?)? (?P<way>past|after|to|before)"
    rf" (?P<hour>{_NUMBER})\b{_HALF}"
)
_SPOKEN = re.compile(rf"\b(?P<hour>{_NUMBER}) (?:oh[- ])?(?P<minute>{_NUMBER})\b{_HALF}")
_BEFORE = frozenset({"to", "before"})
_LATE = frozenset({"pm", "afternoon", "evening"})
_EARLY = frozenset({"am", "morning"})
_DAY = 24 * 60


def accepted_minutes(option: str) -> range:
    """Minutes of the day that a possible answer allows; an empty range if it is no time.

    >>> accepted_minutes("6:09 (answers from 6:07 to 6:10 are all right).")
    range(367, 371)
    """
    if not (found := _RANGE.search(option)):
        return range(0)
    first, last = (60 * int(found[i]) + int(found[i + 1]) for i in (1, 3))
    return range(first, last + 1)


def named_time(line: str, options: Sequence[str]) -> str | None:
    """Find the one possible answer that allows every time that a line names, or None."""
    minutes = _minutes(line.casefold())
    right = [o for o in options if minutes and all(m in accepted_minutes(o) for m in minutes)]
    return right[0] if len(right) == 1 else None


def _minutes(text: str) -> list[int]:
    for pattern in (_DIGITS, _PAST, _SPOKEN):
        if found := list(pattern.finditer(text)):
            return [_minute(match) for match in found]
    return []


def _minute(found: re.Match[str]) -> int:
    parts = found.groupdict()
    hour, minute = _value(parts["hour"]), _value(parts["minute"])
    if parts.get("way") in _BEFORE:
        minute = -minute
    half = (parts["half"] or "").replace(".", "")
    late = half in _LATE or bool(parts["night"])
    if late and hour < 12:
        hour += 12
    if half in _EARLY and hour == 12:
        hour = 0
    return int((60 * hour + minute) % _DAY)


def _value(written: str) -> int:
    if written.isdecimal():
        return int(written)
    tens, _, ones = written.replace("-", " ").partition(" ")
    return _TENS[tens] + _SMALL[ones] if ones else _SMALL.get(tens, _TENS.get(tens, 0))
