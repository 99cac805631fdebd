"""Parser of verdicts on numbered points, such as "1. [1]  2. [0]".

Also reads "1. **[1]**", "1. 1", the key point between number and verdict, YES and NO, and JSON.
Verdicts need numbers, or must be exactly as many as points; an unclear verdict is None.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from bench_assets.core.judging.verdicts import decode_json, introduces_no_verdict, read_object
from bench_assets.core.parsing.reasoning import strip_reasoning
from bench_assets.core.parsing.sentences import refuses

Found: TypeAlias = dict[str, set[str]]  # verdicts by number

_MARKUP = re.compile(r"[*_`\"“”|]|(?<!\w)'|'(?!\w)")
_TICK, _CROSS = re.compile("[✓✔✅☑√]\ufe0f?"), re.compile("[✗✘❌❎✖×]\ufe0f?")
_ROW = re.compile(  # of a table: the number first, the verdict last
    r"^[ \t]*\|[ \t]*(?:key ?point[ \t]*)?(\d+)[ \t.]*\|(?:[^|\n]*\|){0,4}?[ \t*]*\[?"
    r"(0|1|yes|no|true|false)\]?[ \t*]*\|?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ECHO = re.compile(  # of the example in CogBench's prompt, which is no verdict
    r"format \(number \+ square brackets\):\s*+1\. \[1\]\s*+2\. \[0\]"
)
_POINT = r"(?:(?:key ?points?|event ?relationships?|points?)\s*+)?#?\s*+"
_SEPARATOR = r"\s*+(?:(?:[.):=、]|->|→|-)\s*+)+"
_START = re.compile(rf"\s*+(?:[-•]\s*+)?{_POINT}\(?(\d+)(?:{_SEPARATOR}|\s++(?=\[))", re.IGNORECASE)
_FIRST_ITEM = re.compile(r"(?<![\w.])\d++\s*+(?:[.):]\s*+)?\[")
_CIRCLED = re.compile("[①-⑨]")
_TRAILING_VERDICT = re.compile(  # "1. A boy runs: 1", "1 0"
    r"^(\d+(?:\. [^\W\d][^\n\[\]]*:)? )([01])$", re.MULTILINE
)
_PARENTHESIZED = re.compile(r"\b(\w+ed) \(([01])\)(?=\W*$)", re.MULTILINE)  # "not covered (0)"
_BRACKETED = re.compile(r"\[\s*+(\w*+(?:\s*+(?:or\b|/)\s*+\w++)?)\s*+\]")
_ALTERNATIVE = re.compile(r"\s*+(?:[?/]|(?:or|if|unless)\b)", re.IGNORECASE)
_DENIAL = re.compile(  # right before a bracket
    r"(?:(?:\b(?:not|never|hardly|whether|if|maybe|perhaps|possibly|unclear|unsure|unknown|doubt"
    r"|be determined|n/a)|n['’]t)(?:\s+(?:an?|it))?|\?)\W*\Z",
    re.IGNORECASE,
)
_ITEM_SEPARATOR = re.compile(r"(?:[\s,;]|[.!](?!\d))*+")
_VERDICT = r"(0|1|yes|no|true|false|是|否|对|错)"
_BARE = re.compile(rf"{_VERDICT}\b(?!(?<=\d)\.\s*+\S)", re.IGNORECASE)  # not "1. 1. A boy"
_ENDS = re.compile(
    r"(?:\s++[-–—]\s*+(?!\d)"
    r"|\s*+(?:\Z|[.,;!](?!\d)|\((?!\d)|(?<=\s)(?=(?:because|since|as)\b)))\s*+",
    re.IGNORECASE,
)
_WITHDRAWAL = re.compile(  # words after a verdict that withdraw it
    r"(?:but|however|if|unless|maybe|might|or|perhaps|possibly|though|wait|well)\b"
    r"|.*\b(?:yes|I mean)\b",
    re.IGNORECASE,
)
_SINGLE_VERDICT = re.compile(rf"\W*+{_VERDICT}\W*+", re.IGNORECASE)
_LEADS = re.compile(
    r"(?:[^\w\s(]|\b(?:answers?|evaluations?|results?|scores?|verdicts?))\s*+\Z", re.I
)
_REFUSAL = re.compile(
    r"\bI\s+(?:cannot|can['’]t|won['’]t)\s+(?:do|help|answer|comply|assist|evaluate|judge|provide|rate)\b"
    r"|\A\W*if\b|\bformat (?:is|was)\b",
    re.IGNORECASE,
)
_NO_POINT = re.compile(r"\bnone of the key points\b", re.IGNORECASE)
_BRACKET_ALTERNATIVE = re.compile(r"\]\s*+(?:or|/)\s*+\[", re.IGNORECASE)
_LEAD = 200  # characters before verdicts that may say what they are
_WORD = 24  # characters before a verdict in which "not" would stand
_DIGITS = re.compile(r"\d+")
_VERDICTS = dict.fromkeys(("0", "no", "false", "否", "错"), False)
_VERDICTS |= dict.fromkeys(("1", "yes", "true", "是", "对"), True)
_NUMBER_KEYS = frozenset({"id", "number", "index", "key_point", "point", "n"})
_VERDICT_KEYS = frozenset({"score", "verdict", "answer", "value", "mentioned", "result"})


def read_numbered_verdicts(response: str, n: int) -> list[bool | None]:
    r"""Read the verdict on each of n points by the number printed before it.

    A point without a verdict, with one that is neither yes nor no, or with two that differ, is
    None. Numbers above n are ignored. Exactly n verdicts without any numbers are taken in order.

    >>> read_numbered_verdicts("2. [0]  1.[1]", 3), read_numbered_verdicts("1. [ ] 2. [1]", 2)
    ([True, False, None], [None, True])
    >>> (
    ...     read_numbered_verdicts("1. **[1]**\n2. A boy falls. [NO]", 2),
    ...     read_numbered_verdicts('{"1": 1}', 1),
    ... )
    ([True, False], [True])
    """
    text = _ECHO.sub("", _normalize_verdicts(strip_reasoning(response)))
    found = _parse_json(text, n)
    if found is None:
        plain = _MARKUP.sub("", text)
        found = _parse_lines(plain) or _parse_unnumbered(plain, n)
    return [_agreed(found.get(str(number), set())) for number in range(1, n + 1)]


def _normalize_verdicts(text: str) -> str:
    """Write full-width signs as usual ones, ticks and crosses as verdicts, rows as list items."""
    text = _CIRCLED.sub(lambda found: f"({unicodedata.digit(found[0])}) ", text)
    text = _CROSS.sub("[0]", _TICK.sub("[1]", unicodedata.normalize("NFKC", text)))
    text = _TRAILING_VERDICT.sub(r"\1 [\2]", text)
    return _PARENTHESIZED.sub(r"\1 [\2]", _ROW.sub(r"\1. [\2]", text))


def _parse_lines(text: str) -> Found:
    """Read the verdicts of each line, except after a line that introduces an example or refuses."""
    found: Found = {}
    valid = True
    for line in text.splitlines():
        read = list(_parse_line(line))
        if not read and line.strip():
            valid = not _is_no_verdict_lead(line)
        for number, verdict in read if valid else ():
            found.setdefault(number, set()).add(verdict.casefold())
    return found


def _parse_line(line: str) -> Iterator[tuple[str, str]]:
    """Read "1. [1] 2. [0]", or one point with its text before the verdict: "1. A boy. [1]"."""
    brackets = _BRACKETED.finditer(line)
    first, second = next(brackets, None), next(brackets, None)
    start = _START.match(line)
    if start and first and not second and not line[first.end() :].strip(" .,;"):
        denied = _DENIAL.search(line[: first.start()].rstrip()[-_WORD:])
        yield _number(start), "" if denied else first[1]
        return
    at = 0 if start else _first_item(line)
    while item := _START.match(line, at):
        verdict = _BRACKETED.match(line, item.end()) or _BARE.match(line, item.end())
        if not verdict:
            return
        yield _number(item), "" if _is_qualified(line, verdict) else verdict[1]
        separator = _ITEM_SEPARATOR.match(line, verdict.end())
        at = separator.end() if separator else verdict.end()


def _is_qualified(line: str, verdict: re.Match[str]) -> bool:
    """Whether the rest of the line shows that this is no verdict: "no idea", "1 or 0"."""
    if _ALTERNATIVE.match(line, verdict.end()):
        return True
    separator = _ITEM_SEPARATOR.match(line, verdict.end())
    if "[" in verdict[0] or (separator and _START.match(line, separator.end())):
        return False
    ends = _ENDS.match(line, verdict.end())
    return ends is None or _WITHDRAWAL.match(line, ends.end()) is not None


def _first_item(line: str) -> int:
    """Position of "1. [" after words such as "Answers:"; the end of the line if absent.

    Items after a refusal are no verdicts, nor are items within a sentence: "Do not print 1. [1]".
    """
    found = _FIRST_ITEM.search(line)
    lead = line[: found.start()] if found else ""
    refused = refuses(_NO_POINT.sub("", lead))
    fits = found and _LEADS.search(lead) and not (refused or _is_no_verdict_lead(lead))
    return found.start() if found and fits else len(line)


def _is_no_verdict_lead(lead: str) -> bool:
    """Whether words before verdicts mark them as an example, a refusal or a condition."""
    return introduces_no_verdict(lead) or _REFUSAL.search(lead[-_LEAD:]) is not None


def _number(item: re.Match[str]) -> str:
    return item[1].lstrip("0")


def _parse_unnumbered(text: str, n: int) -> Found:
    """Parse n verdicts for n points without numbers."""
    if alone := _SINGLE_VERDICT.fullmatch(text):
        verdicts = [alone[1]]
    else:
        rest = _BRACKETED.sub(" ", text)
        lead = text.partition("[")[0]
        is_open = (
            re.search(r"\d", rest) or _BRACKET_ALTERNATIVE.search(text) or _is_no_verdict_lead(lead)
        )
        verdicts = [] if is_open else _BRACKETED.findall(text)
    return {str(k): {v.casefold()} for k, v in enumerate(verdicts, 1)} if len(verdicts) == n else {}


def _parse_json(text: str, n: int) -> Found | None:
    """Read an object of verdicts by number, or a list of n verdicts; None if it is not JSON."""
    value = decode_json(text)
    if value is None and not re.search(r"[\d\[\]]", re.sub(r"\{[^{}]*+\}", "", text)):
        value = read_object(text)
    return _parse_value(value, n) if isinstance(value, dict | list) else None


def _parse_value(value: object, n: int) -> Found | None:
    match value:
        case dict():
            return _parse_object(value, n)
        case [dict(), *_]:
            return _parse_objects([one for one in value if isinstance(one, dict)])
        case list() if len(value) == n:
            return {str(number): {_word(one)} for number, one in enumerate(value, 1)}
    return {}


def _parse_object(value: Mapping[str, Any], n: int) -> Found:
    inner = list(value.values())
    if len(inner) == 1 and isinstance(inner[0], dict | list) and not _is_wrapped(inner[0]):
        return _parse_value(inner[0], n) or {}
    found: Found = {}
    for key, verdict in value.items():
        if len(numbers := _DIGITS.findall(key)) == 1:
            word = _verdict_of(verdict) if isinstance(verdict, dict) else _word(verdict)
            found.setdefault(numbers[0].lstrip("0"), set()).add(word)
    return found


def _parse_objects(rows: Sequence[Mapping[str, Any]]) -> Found:
    found: Found = {}
    for row in rows:
        numbers = [_DIGITS.findall(str(row[key])) for key in row if key.casefold() in _NUMBER_KEYS]
        if len(numbers) == 1 and len(numbers[0]) == 1:
            found.setdefault(numbers[0][0].lstrip("0"), set()).add(_verdict_of(row))
    return found


def _verdict_of(row: Mapping[str, Any]) -> str:
    words = [_word(row[key]) for key in row if key.casefold() in _VERDICT_KEYS]
    return words[0] if len(words) == 1 else ""


def _is_wrapped(value: object) -> bool:
    """Whether a verdict is a list of one, as in {"1": [1]}."""
    return isinstance(value, list) and len(value) == 1 and not isinstance(value[0], dict | list)


def _word(value: object) -> str:
    if isinstance(value, list) and len(value) == 1:
        return _word(value[0])
    return str(value).strip(" []").casefold()


def _agreed(verdicts: set[str]) -> bool | None:
    read = {_VERDICTS.get(verdict) for verdict in verdicts}
    return next(iter(read)) if len(read) == 1 else None
