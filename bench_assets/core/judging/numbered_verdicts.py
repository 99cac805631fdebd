"""Parser of verdicts on numbered points, such as "1. [1]  2. [0]".

Also reads "1. **[1]**", "1. 1", the key point between number and verdict, YES and NO, and JSON.
Verdicts need numbers, or must be exactly as many as points; an unclear verdict is None.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from bench_assets.core.judging.verdicts import decoded, only_leads_to, read_object
from bench_assets.core.parsing.reasoning import without_reasoning
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
_SEPARATED = r"\s*+(?:(?:[.):=、]|->|→|-)\s*+)+"
_START = re.compile(rf"\s*+(?:[-•]\s*+)?{_POINT}\(?(\d+)(?:{_SEPARATED}|\s++(?=\[))", re.IGNORECASE)
_FIRST = re.compile(r"(?<![\w.])\d++\s*+(?:[.):]\s*+)?\[")
_CIRCLED = re.compile("[①-⑨]")
_AT_THE_END = re.compile(  # "1. A boy runs: 1", "1 0"
    r"^(\d+(?:\. [^\W\d][^\n\[\]]*:)? )([01])$", re.MULTILINE
)
_IN_ROUND = re.compile(r"\b(\w+ed) \(([01])\)(?=\W*$)", re.MULTILINE)  # "not covered (0)"
_BRACKETED = re.compile(r"\[\s*+(\w*+(?:\s*+(?:or\b|/)\s*+\w++)?)\s*+\]")
_LEFT_OPEN = re.compile(r"\s*+(?:[?/]|(?:or|if|unless)\b)", re.IGNORECASE)
_DENIED = re.compile(  # right before a bracket
    r"(?:(?:\b(?:not|never|hardly|whether|if|maybe|perhaps|possibly|unclear|unsure|unknown|doubt"
    r"|be determined|n/a)|n['’]t)(?:\s+(?:an?|it))?|\?)\W*\Z",
    re.IGNORECASE,
)
_NEXT = re.compile(r"(?:[\s,;]|[.!](?!\d))*+")
_VERDICT = r"(0|1|yes|no|true|false|是|否|对|错)"
_BARE = re.compile(rf"{_VERDICT}\b(?!(?<=\d)\.\s*+\S)", re.IGNORECASE)  # not "1. 1. A boy"
_ENDS = re.compile(
    r"(?:\s++[-–—]\s*+(?!\d)"
    r"|\s*+(?:\Z|[.,;!](?!\d)|\((?!\d)|(?<=\s)(?=(?:because|since|as)\b)))\s*+",
    re.IGNORECASE,
)
_TURNS = re.compile(  # words after a verdict that withdraw it
    r"(?:but|however|if|unless|maybe|might|or|perhaps|possibly|though|wait|well)\b"
    r"|.*\b(?:yes|I mean)\b",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"\W*+{_VERDICT}\W*+", re.IGNORECASE)
_LEADS = re.compile(
    r"(?:[^\w\s(]|\b(?:answers?|evaluations?|results?|scores?|verdicts?))\s*+\Z", re.I
)
_REFUSES = re.compile(
    r"\bI\s+(?:cannot|can['’]t|won['’]t)\s+(?:do|help|answer|comply|assist|evaluate|judge|provide|rate)\b"
    r"|\A\W*if\b|\bformat (?:is|was)\b",
    re.IGNORECASE,
)
_NO_POINT = re.compile(r"\bnone of the key points\b", re.IGNORECASE)
_EITHER = re.compile(r"\]\s*+(?:or|/)\s*+\[", re.IGNORECASE)
_LEAD = 200  # characters before verdicts that may say what they are
_WORD = 24  # characters before a verdict in which "not" would stand
_DIGITS = re.compile(r"\d+")
_VERDICTS = dict.fromkeys(("0", "no", "false", "否", "错"), False)
_VERDICTS |= dict.fromkeys(("1", "yes", "true", "是", "对"), True)
_NUMBER_KEYS = frozenset({"id", "number", "index", "key_point", "point", "n"})
_VERDICT_KEYS = frozenset({"score", "verdict", "answer", "value", "mentioned", "result"})


def read_by_number(response: str, n: int) -> list[bool | None]:
    r"""Read the verdict on each of n points by the number printed before it.

    A point without a verdict, with one that is neither yes nor no, or with two that differ, is
    None. Numbers above n are ignored. Exactly n verdicts without any numbers are taken in order.

    >>> read_by_number("2. [0]  1.[1]", 3), read_by_number("1. [ ] 2. [1]", 2)
    ([True, False, None], [None, True])
    >>> read_by_number("1. **[1]**\n2. A boy falls. [NO]", 2), read_by_number('{"1": 1}', 1)
    ([True, False], [True])
    """
    text = _ECHO.sub("", _plain(without_reasoning(response)))
    found = _of_json(text, n)
    if found is None:
        plain = _MARKUP.sub("", text)
        found = _of_lines(plain) or _unnumbered(plain, n)
    return [_agreed(found.get(str(number), set())) for number in range(1, n + 1)]


def _plain(text: str) -> str:
    """Write full-width signs as usual ones, ticks and crosses as verdicts, rows as list items."""
    text = _CIRCLED.sub(lambda found: f"({unicodedata.digit(found[0])}) ", text)
    text = _CROSS.sub("[0]", _TICK.sub("[1]", unicodedata.normalize("NFKC", text)))
    text = _AT_THE_END.sub(r"\1 [\2]", text)
    return _IN_ROUND.sub(r"\1 [\2]", _ROW.sub(r"\1. [\2]", text))


def _of_lines(text: str) -> Found:
    """Read the verdicts of each line, except after a line that introduces an example or refuses."""
    found: Found = {}
    said = True
    for line in text.splitlines():
        read = list(_of_line(line))
        if not read and line.strip():
            said = not _only_speaks(line)
        for number, verdict in read if said else ():
            found.setdefault(number, set()).add(verdict.casefold())
    return found


def _of_line(line: str) -> Iterator[tuple[str, str]]:
    """Read "1. [1] 2. [0]", or one point with its text before the verdict: "1. A boy. [1]"."""
    brackets = _BRACKETED.finditer(line)
    first, second = next(brackets, None), next(brackets, None)
    start = _START.match(line)
    if start and first and not second and not line[first.end() :].strip(" .,;"):
        denied = _DENIED.search(line[: first.start()].rstrip()[-_WORD:])
        yield _number(start), "" if denied else first[1]
        return
    at = 0 if start else _first_item(line)
    while item := _START.match(line, at):
        verdict = _BRACKETED.match(line, item.end()) or _BARE.match(line, item.end())
        if not verdict:
            return
        yield _number(item), "" if _goes_on(line, verdict) else verdict[1]
        separator = _NEXT.match(line, verdict.end())
        at = separator.end() if separator else verdict.end()


def _goes_on(line: str, verdict: re.Match[str]) -> bool:
    """Whether the rest of the line shows that this is no verdict: "no idea", "1 or 0"."""
    if _LEFT_OPEN.match(line, verdict.end()):
        return True
    separator = _NEXT.match(line, verdict.end())
    if "[" in verdict[0] or (separator and _START.match(line, separator.end())):
        return False
    ends = _ENDS.match(line, verdict.end())
    return ends is None or _TURNS.match(line, ends.end()) is not None


def _first_item(line: str) -> int:
    """Position of "1. [" after words such as "Answers:"; the end of the line if absent.

    Items after a refusal are no verdicts, nor are items within a sentence: "Do not print 1. [1]".
    """
    found = _FIRST.search(line)
    lead = line[: found.start()] if found else ""
    refused = refuses(_NO_POINT.sub("", lead))
    fits = found and _LEADS.search(lead) and not (refused or _only_speaks(lead))
    return found.start() if found and fits else len(line)


def _only_speaks(lead: str) -> bool:
    """Whether words before verdicts mark them as an example, a refusal or a condition."""
    return only_leads_to(lead) or _REFUSES.search(lead[-_LEAD:]) is not None


def _number(item: re.Match[str]) -> str:
    return item[1].lstrip("0")


def _unnumbered(text: str, n: int) -> Found:
    """Parse n verdicts for n points without numbers."""
    if alone := _ALONE.fullmatch(text):
        verdicts = [alone[1]]
    else:
        rest = _BRACKETED.sub(" ", text)
        lead = text.partition("[")[0]
        is_open = re.search(r"\d", rest) or _EITHER.search(text) or _only_speaks(lead)
        verdicts = [] if is_open else _BRACKETED.findall(text)
    return {str(k): {v.casefold()} for k, v in enumerate(verdicts, 1)} if len(verdicts) == n else {}


def _of_json(text: str, n: int) -> Found | None:
    """Read an object of verdicts by number, or a list of n verdicts; None if it is not JSON."""
    value = decoded(text)
    if value is None and not re.search(r"[\d\[\]]", re.sub(r"\{[^{}]*+\}", "", text)):
        value = read_object(text)
    return _of_value(value, n) if isinstance(value, dict | list) else None


def _of_value(value: object, n: int) -> Found | None:
    match value:
        case dict():
            return _of_object(value, n)
        case [dict(), *_]:
            return _of_objects([one for one in value if isinstance(one, dict)])
        case list() if len(value) == n:
            return {str(number): {_word(one)} for number, one in enumerate(value, 1)}
    return {}


def _of_object(value: Mapping[str, Any], n: int) -> Found:
    inner = list(value.values())
    if len(inner) == 1 and isinstance(inner[0], dict | list) and not _is_wrapped(inner[0]):
        return _of_value(inner[0], n) or {}
    found: Found = {}
    for key, verdict in value.items():
        if len(numbers := _DIGITS.findall(key)) == 1:
            word = _verdict_of(verdict) if isinstance(verdict, dict) else _word(verdict)
            found.setdefault(numbers[0].lstrip("0"), set()).add(word)
    return found


def _of_objects(rows: Sequence[Mapping[str, Any]]) -> Found:
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
