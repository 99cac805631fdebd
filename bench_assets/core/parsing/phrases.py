"""Union of many patterns that tries only those that can begin with the next two characters.

``re`` tries all alternatives of a pattern, one by one, at every position of a text. ``Phrases``
finds the same matches, provided that no pattern begins inside a Latin word.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from typing import TypeAlias

_TOKEN = re.compile(
    r"(?P<group>\((?:\?(?:(?P<assertion><?[=!])|P<\w+>|[ims-]*:))?)|(?P<end>\))|(?P<bar>\|)"
    r"|(?P<anchor>[\^$]|\\[bBZ])|(?P<optional>(?:[?*]|\{0?,\d*\})[?+]?)"
    r"|(?P<repeated>(?:\+|\{\d[\d,]*\})[?+]?)"
    r"|(?P<class>\[\^?\]?(?:\\.|[^\]\\])*\]|\\[wWsSdD]|\.)|\\?(?P<character>.)",
    re.DOTALL,
)
_ANCHORS = ("^", "$", r"\b", r"\B", r"\Z")
_ESCAPED = {"n": "\n", "t": "\t"}
_ASCII = frozenset(map(chr, range(128)))
_WORD, _SIGN = "ŋ", "※"  # representatives of all characters that no pattern lists
_UNLISTED = {_WORD: "ŋ٣", _SIGN: "※\u2028"}
_ANY = "\uffff"  # any second character, or none
_MAX_CLASS_SIZE = 40  # characters of a class; after a larger one, any second character is assumed
_MAX_CACHED_UNIONS = 20_000  # cached pairs of characters; Chinese texts have more
_cached_compile = lru_cache(4096)(re.compile)
_Beginnings: TypeAlias = Mapping[str, Sequence[tuple[str, str, str]]]
"""First character to (second character, kind, pattern), in the order of the patterns."""


class Phrases:
    """Patterns by kind; if several match at a position, the first one counts.

    Args:
        patterns: The pattern of each kind, in the order in which they are tried.
        characters: Characters in ranges of the patterns' classes, beyond ASCII.
        flags: Flags of ``re``.
    """

    def __init__(
        self,
        patterns: Mapping[str, str],
        characters: str = "",
        flags: re.RegexFlag = re.IGNORECASE,
    ) -> None:
        self._patterns = patterns
        self._characters = characters
        self._flags = flags
        self._unions: dict[str, re.Pattern[str]] = {}  # by the first two characters

    def find(self, text: str) -> Iterator[re.Match[str]]:
        """Find matches from left to right; the ``lastgroup`` of each is its kind."""
        unions, end = self._unions, 0
        if text and (found := self._union(text[:2], "^").match(text)):
            end = found.end()
            yield found
        for start in self._starts.finditer(text, 1):
            at = start.start()
            if at < end:
                continue
            two = text[at : at + 2]
            union = unions.get(two) or self._union(two)
            if found := union.match(text, at):
                end = found.end()
                yield found

    def sub(self, instead: Callable[[re.Match[str]], str], text: str) -> str:
        """Replace each match."""
        parts, end = [], 0
        for found in self.find(text):
            parts += [text[end : found.start()], instead(found)]
            end = found.end()
        return "".join([*parts, text[end:]])

    def _union(self, two: str, anchor: str = "") -> re.Pattern[str]:
        """The union of the patterns that may begin with these two characters."""
        if union := self._unions.get(anchor + two):
            return union
        beginnings = self._branches_by_prefix[0 if anchor else 1]
        unlisted = _WORD if two[0].isalnum() else _SIGN
        branches = beginnings.get(two[0].lower(), beginnings[unlisted])
        fitting = dict.fromkeys(one[1:] for one in branches if one[0] in (_ANY, two[1:].lower()))
        parts = [
            f"({f'?P<{kind}>' if kind else '?:'}{'|'.join(pattern for _, pattern in one)})"
            for kind, one in groupby(fitting, key=lambda branch: branch[0])
        ]
        if len(self._unions) > _MAX_CACHED_UNIONS:
            self._unions.clear()
        union = _cached_compile("|".join(parts) or "(?!)", self._flags)
        return self._unions.setdefault(anchor + two, union)

    @cached_property
    def _branches_by_prefix(self) -> tuple[_Beginnings, _Beginnings]:
        """Patterns that may begin at the start of a text, and those that may begin inside it."""
        alphabet = _ASCII.union(self._characters, *self._patterns.values(), _UNLISTED)

        @lru_cache
        def fitting(pattern: str) -> frozenset[str]:
            fits = re.compile(pattern, re.IGNORECASE | re.DOTALL).search
            found = {one.lower() for one in alphabet if fits(_UNLISTED.get(one, one))}
            return (
                frozenset(one + _ANY for one in found)
                if len(found) > _MAX_CLASS_SIZE
                else frozenset(found)
            )

        tables = [{one.lower(): list[tuple[str, str, str]]() for one in alphabet} for _ in "^ "]
        for kind, pattern in self._patterns.items():
            for branch in _branches(pattern):
                tokens = [*_TOKEN.finditer(branch)]
                inside = _first_characters([*tokens], fitting, _ANCHORS[1:])
                at_start = _first_characters(tokens, fitting, _ANCHORS) if "^" in branch else inside
                for table, found in zip(tables, (at_start, inside), strict=True):
                    for begins in filter(None, found):
                        second = _ANY if begins[1:] in _UNLISTED else begins[1:] or _ANY
                        table[begins[0]].append((second, kind, branch))
        return tables[0], tables[1]

    @cached_property
    def _starts(self) -> re.Pattern[str]:
        """Where a match may begin."""
        firsts: dict[tuple[str, frozenset[str]], str] = {}  # what precedes; second characters
        for first, branches in self._branches_by_prefix[1].items():
            seconds = frozenset(one[0] for one in branches)
            if seconds and first not in _UNLISTED:
                before = "(?<![A-Za-z])" if first.isascii() and first.isalpha() else ""
                kind = before, frozenset(_ANY) if _ANY in seconds else seconds
                firsts[kind] = firsts.get(kind, "") + first
        starts: defaultdict[str, list[str]] = defaultdict(list)
        for (before, seconds), first in firsts.items():
            starts[before].append(f"{_class(first)}(?={_class(seconds)})")
        if any(self._branches_by_prefix[1][one] for one in _UNLISTED):
            starts[""].append(_class(self._branches_by_prefix[1], but=True))
        parts = [f"{before}(?:{'|'.join(starts[before])})" for before in sorted(starts)]
        return re.compile("|".join(parts) or "(?!)")


def _class(characters: Iterable[str], *, but: bool = False) -> str:
    """Regex class of characters in both cases, or of all others (``but``)."""
    every = {form for one in characters for form in (one, one.upper()) if len(form) == 1}
    return "" if _ANY in every and not but else f"[{'^' * but}{re.escape(''.join(sorted(every)))}]"


def _branches(pattern: str) -> Iterator[str]:
    """Split a pattern at the bars outside of groups."""
    depth = begin = 0
    for token in _TOKEN.finditer(pattern):
        depth += (token["group"] is not None) - (token["end"] is not None)
        if token["bar"] and not depth:
            yield pattern[begin : token.start()]
            begin = token.end()
    yield pattern[begin:]


def _first_characters(
    tokens: list[re.Match[str]], fitting: Callable[[str], frozenset[str]], holds: Sequence[str]
) -> frozenset[str]:
    """The first one or two characters that a pattern may begin with; consumes its tokens."""
    complete: frozenset[str] = frozenset()
    prefixes = frozenset(("",))
    while tokens and not (token := tokens.pop(0))["end"]:
        is_open = any(len(one) < 2 for one in prefixes)
        if token["bar"]:
            complete, prefixes = complete | prefixes, frozenset(("",))
            continue
        if token["group"]:
            found = _first_characters(tokens, fitting, holds)
        elif token["anchor"]:
            found = frozenset(("",) if token[0] in holds else ())
        elif token["class"]:
            found = fitting(token["class"]) if is_open else prefixes
        else:
            found = frozenset((_letter(token),))
        if tokens and (tokens[0]["optional"] or tokens[0]["repeated"]):
            found |= _extend_prefixes(found, found)
            found |= frozenset(("",) if tokens.pop(0)["optional"] else ())
        prefixes = (
            _extend_prefixes(prefixes, found) if is_open and not token["assertion"] else prefixes
        )
    return complete | prefixes


def _extend_prefixes(begun: frozenset[str], found: frozenset[str]) -> frozenset[str]:
    open_still = [one for one in begun if len(one) < 2]
    return begun.difference(open_still) | {(one + two)[:2] for one in open_still for two in found}


def _letter(token: re.Match[str]) -> str:
    one: str = token["character"].lower()
    return _ESCAPED.get(one, one) if token[0][0] == "\\" else one
