"""Reads which key points a judge finds mentioned; its reply is to look like "1. [1]  2. [0]"."""

import re

from bench_assets.core.chat import without_reasoning

_NUMBERED = re.compile(r"(\d+)\s*[.):]?\s*\[\s*(\d*)\s*\]")
_OFFICIAL = re.compile(r"\d+\.\s\[(\d+)\]")
_VERDICTS = {"0": False, "1": True}


def read_by_number(reply: str, n: int) -> list[bool | None]:
    """Read the verdict on each of n points by the number printed before it.

    A point without a verdict, with one that is neither 0 nor 1, or with two that differ, is None.
    Of a single point the number may be missing. Numbers above n are no points.

    >>> read_by_number("2. [0]  1.[1]", 3), read_by_number("1. [ ] 2. [1]", 2)
    ([True, False, None], [None, True])
    """
    text = without_reasoning(reply)
    found: dict[int, set[str]] = {}
    for number, verdict in _NUMBERED.findall(text):
        found.setdefault(int(number), set()).add(verdict)
    if n == 1 and not found:
        found = {1: {text.strip().strip("[]").strip()}}
    return [_agreed(found.get(number, set())) for number in range(1, n + 1)]


def read_by_position(reply: str, n: int) -> list[bool | None]:
    """Read as the authors' cognition_gpt_eval.py does: the k-th match of "d. [d]" is of point k.

    The printed number is ignored, "1.[1]" and "1. [ ]" do not match, a reply that is one digit or
    starts with "[d]" is of point 1. Where their code asks again, up to five times, and then leaves
    a hole, the points beyond the last match are None.

    >>> read_by_position("1. [ ] 2. [1]", 2), read_by_position("2. [0]  1. [1]", 2)
    ([True, None], [False, True])
    """
    text = without_reasoning(reply).strip()
    if re.fullmatch(r"\d", text):
        found = [text]
    elif first := re.match(r"\[(\d)\]", text):
        found = [first[1]]
    else:
        found = _OFFICIAL.findall(text)
    return [_VERDICTS.get(verdict) for verdict in [*found[:n], *[""] * (n - len(found))]]


def _agreed(verdicts: set[str]) -> bool | None:
    return _VERDICTS.get(next(iter(verdicts))) if len(verdicts) == 1 else None
