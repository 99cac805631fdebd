"""Reads which key points a judge finds mentioned; its reply is to look like "1. [1]  2. [0]".

Judges write the same in other ways: "1. **[1]**", "1. 1", the key point between number and verdict,
YES and NO, JSON. What a verdict belongs to has to be printed, or there have to be exactly as many
verdicts as points; what is not clear is None, and never guessed.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from bench_assets.core.reasoning import without_reasoning

Found: TypeAlias = dict[int, set[str]]

_MARKUP = re.compile(r"[*_`\"'“”|]")
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
_POINT = r"(?:key ?points?|event ?relationships?|points?)?\s*#?\s*"
_START = re.compile(rf"\s*[-•]?\s*{_POINT}\(?(\d+)\s*(?:[.):=]|->|→|-|\s(?=\[))+\s*", re.IGNORECASE)
_BRACKETED = re.compile(r"\[\s*(\w*)\s*\]")
_NEXT = re.compile(r"[\s,;]*")
_BARE = re.compile(r"(0|1|yes|no)(?![\w.):])", re.IGNORECASE)
_ALONE = re.compile(r"\W*(0|1|yes|no)\W*", re.IGNORECASE)
_OFFICIAL = re.compile(r"\d+\.\s\[(\d+)\]")
_DIGITS = re.compile(r"\d+")
_VERDICTS = {"0": False, "1": True, "no": False, "yes": True, "false": False, "true": True}
_NUMBER_KEYS = frozenset({"id", "number", "index", "key_point", "point", "n"})
_VERDICT_KEYS = frozenset({"score", "verdict", "answer", "value", "mentioned", "result"})
_OFFICIAL_VERDICTS = {"0": False, "1": True}


def read_by_number(reply: str, n: int) -> list[bool | None]:
    r"""Read the verdict on each of n points by the number printed before it.

    A point without a verdict, with one that is neither yes nor no, or with two that differ, is
    None. Numbers above n are no points. Without any numbers, n verdicts are those of n points.

    >>> read_by_number("2. [0]  1.[1]", 3), read_by_number("1. [ ] 2. [1]", 2)
    ([True, False, None], [None, True])
    >>> read_by_number("1. **[1]**\n2. A boy falls. [NO]", 2), read_by_number('{"1": 1}', 1)
    ([True, False], [True])
    """
    text = without_reasoning(reply)
    found = _of_json(text, n)
    if found is None:
        plain = _MARKUP.sub("", text)
        found = {}
        for line in plain.splitlines():
            for number, verdict in _of_line(line):
                found.setdefault(number, set()).add(verdict.casefold())
        found = found or _unnumbered(plain, n)
    return [_agreed(found.get(number, set())) for number in range(1, n + 1)]


def read_by_position(reply: str, n: int) -> list[bool | None]:
    """Read as the authors' cognition_gpt_eval.py does: the k-th match of "d. [d]" is of point k.

    The printed number is ignored, "1.[1]" and "1. [ ]" do not match, a reply that is one digit or
    starts with "[d]" is of point 1; what a judge thinks aloud is part of its reply. Where their
    code asks again, up to five times, and then leaves a hole, the points beyond the last match are
    None.

    >>> read_by_position("1. [ ] 2. [1]", 2), read_by_position("2. [0]  1. [1]", 2)
    ([True, None], [False, True])
    """
    text = reply.strip()
    if re.fullmatch(r"\d", text):
        found = [text]
    elif first := re.match(r"\[(\d)\]", text):
        found = [first[1]]
    else:
        found = _OFFICIAL.findall(text)
    return [_OFFICIAL_VERDICTS.get(verdict) for verdict in [*found[:n], *[""] * (n - len(found))]]


def _of_line(line: str) -> Iterator[tuple[int, str]]:
    """Read "1. [1] 2. [0]", or one point with its text before the verdict: "1. A boy. [1]"."""
    brackets = list(_BRACKETED.finditer(line))
    start = _START.match(line)
    if start and len(brackets) == 1 and not line[brackets[0].end() :].strip(" .,;"):
        yield int(start[1]), brackets[0][1]
        return
    at = 0 if start else _first_item(line)
    while item := _START.match(line, at):
        verdict = _BRACKETED.match(line, item.end()) or _BARE.match(line, item.end())
        if not verdict:
            return
        yield int(item[1]), verdict[1]
        separator = _NEXT.match(line, verdict.end())
        at = separator.end() if separator else verdict.end()


def _first_item(line: str) -> int:
    """Where "1. [" begins after some words, such as "Answers:"; the end of the line if nowhere."""
    found = re.search(r"(?<![\w.])\d+\s*[.):]?\s*\[", line)
    return found.start() if found else len(line)


def _unnumbered(text: str, n: int) -> Found:
    """Read n verdicts for n points where no number says which is whose."""
    if alone := _ALONE.fullmatch(text):
        verdicts = [alone[1]]
    else:
        rest = _BRACKETED.sub(" ", text)
        verdicts = [] if re.search(r"\d", rest) else _BRACKETED.findall(text)
    return {k: {v.casefold()} for k, v in enumerate(verdicts, 1)} if len(verdicts) == n else {}


def _of_json(text: str, n: int) -> Found | None:
    """Read an object of verdicts by number, or a list of n verdicts; None if it is no JSON."""
    fenced = _FENCE.search(text)
    try:
        read: object = json.loads(fenced[1] if fenced else text)
    except ValueError:
        return None
    return _of_value(read, n) if isinstance(read, dict | list) else None


def _of_value(value: object, n: int) -> Found | None:
    match value:
        case dict():
            return _of_object(value, n)
        case [dict(), *_]:
            return _of_objects([one for one in value if isinstance(one, dict)])
        case list() if len(value) == n:
            return {number: {_word(one)} for number, one in enumerate(value, 1)}
        case list() if n != 1 and not value:
            return {}
    return {}


def _of_object(value: Mapping[str, Any], n: int) -> Found:
    inner = list(value.values())
    if len(inner) == 1 and isinstance(inner[0], dict | list) and not _is_wrapped(inner[0]):
        return _of_value(inner[0], n) or {}
    found: Found = {}
    for key, verdict in value.items():
        if len(numbers := _DIGITS.findall(key)) == 1:
            word = _verdict_of(verdict) if isinstance(verdict, dict) else _word(verdict)
            found.setdefault(int(numbers[0]), set()).add(word)
    return found


def _of_objects(rows: Sequence[Mapping[str, Any]]) -> Found:
    found: Found = {}
    for row in rows:
        numbers = [_DIGITS.findall(str(row[key])) for key in row if key.casefold() in _NUMBER_KEYS]
        if len(numbers) == 1 and len(numbers[0]) == 1:
            found.setdefault(int(numbers[0][0]), set()).add(_verdict_of(row))
    return found


def _verdict_of(row: Mapping[str, Any]) -> str:
    words = [_word(row[key]) for key in row if key.casefold() in _VERDICT_KEYS]
    return words[0] if len(words) == 1 else ""


def _is_wrapped(value: object) -> bool:
    """Whether a verdict stands in brackets of its own, as in {"1": [1]}."""
    return isinstance(value, list) and len(value) == 1 and not isinstance(value[0], dict | list)


def _word(value: object) -> str:
    if isinstance(value, list) and len(value) == 1:
        return _word(value[0])
    return str(value).strip(" []").casefold()


def _agreed(verdicts: set[str]) -> bool | None:
    read = {_VERDICTS.get(verdict) for verdict in verdicts}
    return next(iter(read)) if len(read) == 1 else None
