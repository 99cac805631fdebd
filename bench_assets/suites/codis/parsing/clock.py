"""Times of day in responses, and the minutes that a possible answer allows.

A possible answer that is a time states its range: "6:09 (answers from 6:07 to 6:10 are all
right)". A response that also names a time outside the range, or the other half of the day, does not
match.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

_RANGE = re.compile(r"answers from (\d+):(\d\d) to (\d+):(\d\d) are all right")
_NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_NUMBER_VALUES = {word: number for number, word in enumerate(_NUMBER_WORDS.split(), 1)}
_NUMBER_VALUES |= {"quarter": 15, "half": 30, "thirty": 30, "forty": 40, "fifty": 50}
_WORD = re.compile("[a-z]+")
_NUMBER = r"(?:[2-5]0[- ]\d|\d\d?)"  # "twenty-five" has become "20-5"
_DIGITS = re.compile(r"(?<![\d:.])(?P<hour>\d\d?)[:.h](?P<minute>\d\d)(?!\d)")
_PAST = re.compile(
    rf"\b(?P<minute>{_NUMBER})(?: minutes?)? (?P<way>past|after|to|before) (?P<hour>{_NUMBER})\b"
)
_SPOKEN = re.compile(rf"\b(?P<hour>{_NUMBER}) (?:oh[- ])?(?P<minute>{_NUMBER})\b")
_PART_OF_DAY = re.compile(r"\s*(?:in the |at )?([a-z.]+)")
_BEFORE = frozenset({"to", "before"})
_PM_WORDS = frozenset({"pm", "afternoon", "evening"})
_AM_WORDS = frozenset({"am", "morning"})
_DUSK = 6  # hour from which "at night" means the evening, as in "7:23 at night"
_NOON = 12 * 60
_DAY = 24 * 60


@lru_cache(256)  # called with the same options for every response
def accepted_minutes(option: str) -> frozenset[int]:
    """Minutes of the day that a possible answer allows; empty if it is not a time.

    >>> sorted(accepted_minutes("6:09 (answers from 6:07 to 6:10 are all right)."))
    [367, 368, 369, 370]

    A range from 12:59 to 1:01 continues after 12 o'clock.
    """
    if not (found := _RANGE.search(option)):
        return frozenset()
    first, last = (60 * int(found[i]) + int(found[i + 1]) for i in (1, 3))
    if first <= last:
        return frozenset(range(first, last + 1))
    return frozenset({*range(first, _NOON + last + 1), *range(60, last + 1)})


def named_time(line: str, options: Sequence[str]) -> str | None:
    """Find the one possible answer whose range has every time in a line, or None."""
    minutes = _minutes(line.casefold())
    right = [o for o in options if minutes and all(m in accepted_minutes(o) for m in minutes)]
    return right[0] if len(right) == 1 else None


def _minutes(text: str) -> list[int]:
    text = _WORD.sub(lambda word: str(_NUMBER_VALUES.get(word[0], word[0])), text)
    for pattern in (_DIGITS, _PAST, _SPOKEN):
        if found := list(pattern.finditer(text)):
            return [_minute(match, _part_of_day(text, match.end())) for match in found]
    return []


def _part_of_day(text: str, at: int) -> str:
    found = _PART_OF_DAY.match(text, at)
    return found[1].replace(".", "") if found else ""


def _minute(found: re.Match[str], part_of_day: str) -> int:
    parts = found.groupdict()
    hour, minute = _value(parts["hour"]), _value(parts["minute"])
    if parts.get("way") in _BEFORE:
        minute = -minute
    at_night = part_of_day == "night"
    if hour < 12 and (part_of_day in _PM_WORDS or (at_night and hour >= _DUSK)):
        hour += 12
    elif hour == 12 and (part_of_day in _AM_WORDS or at_night):
        hour = 0
    elif hour == 1 and minute < 0 and part_of_day not in _AM_WORDS and not at_night:
        hour += 12  # the hour before one is twelve
    return (60 * hour + minute) % _DAY


def _value(written: str) -> int:
    return sum(map(int, written.replace("-", " ").split()))
