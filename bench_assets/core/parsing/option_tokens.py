"""Tokenizer of responses: named options, the words of ``words.txt``, and other text."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench_assets.core.parsing.option_names import LETTER, NAME, NAMES, is_claim, letter_of
from bench_assets.core.parsing.phrases import Phrases
from bench_assets.core.parsing.word_lists import alternatives, section_names

_FILE = Path(__file__).with_name("words.txt")
_EXCLUDED_SECTIONS = (
    *("negation", "no negation", "filler", "leaves open", "parts clauses", "draws a conclusion"),
    *(
        "before a word that is denied",
        "what the answer may be called",
        "after a word that is no verdict",
        "ends in the middle",
    ),
)
_NAMES = re.compile(NAME)
_MAX_REPEATED_LETTERS = 100  # letters of a token; beyond that, only new ones are added
_MAX_MERGED_TEXT = 100  # characters kept of a merged token, before its last option
_WORDS = Phrases(
    {"option": rf"{NAME}+(?:\s?[.:)、](?!\s*{NAME}))?"}
    | {
        kind.replace(" ", "_"): alternatives(_FILE, kind).replace("@L", LETTER).replace("@", NAME)
        for kind in dict.fromkeys(name.partition(" / ")[0] for name in section_names(_FILE))
        if kind not in _EXCLUDED_SECTIONS
    },
    characters=NAMES,
)
FILLER = re.compile(rf"(?:{alternatives(_FILE, 'filler')}|\W)*+", re.IGNORECASE)


class Token(NamedTuple):
    """A word of ``words.txt``, one or more named options, or other text."""

    kind: str
    text: str
    start: int
    letters: str = ""  # of named options; kind "option", or "open" if they are joined by "or"
    claims: bool = False  # whether an option is named by a claim: "A is closer"


def tokenize_options(text: str) -> list[Token]:
    """Tokenize the output of ``option_names.mark_options``; the last token is an empty stop.

    Options in a row, or joined by a conjunction, are merged into one token.
    """
    found: list[Token] = []
    for token in _words(text):
        first = found[-1] if found else None
        if first and first.kind in ("join", "or") and len(found) > 1 and found[-2].letters:
            first = found[-2]
        if not token.letters or first is None or not first.letters:
            found.append(token)
            continue
        kind = "open" if found.pop().kind == "or" else first.kind
        if found and found[-1] is first:
            found.pop()
        found.append(
            first._replace(
                kind=kind,
                text=text[first.start : token.start][:_MAX_MERGED_TEXT] + token.text,
                letters=append_letters(first.letters, token.letters),
                claims=first.claims or token.claims,
            )
        )
    return [*found, Token("stop", "", len(text))]


def append_letters(letters: str, others: str) -> str:
    """Append letters; from ``_MAX_REPEATED_LETTERS`` on, only those that are new."""
    if len(letters) < _MAX_REPEATED_LETTERS:
        return letters + others
    return letters + "".join(dict.fromkeys(one for one in others if one not in letters))


def _words(text: str) -> Iterator[Token]:
    end = 0
    for found in _WORDS.find(text):
        kind, matched, (start, _) = str(found.lastgroup), found[0], found.span()
        if end < start and not FILLER.fullmatch(text, end, start):
            yield Token("text", text[end:start].strip(), start=end)
        end = found.end()
        if kind != "option":
            yield Token(kind, matched, start)
            continue
        letters = "".join(map(letter_of, _NAMES.findall(matched)))
        yield Token(kind, matched, start, letters, is_claim(matched[0]))
        in_table = text[end : end + 2].strip()[:1] in ("|", "√", "×")
        if (
            matched[-1] == "."
            and not in_table
            and text[text.rfind("\n", 0, start) + 1 : start].strip()
        ):
            yield Token("stop", ".", end - 1)  # within a line, "A." is no label
    if not FILLER.fullmatch(text, end):
        yield Token("text", text[end:].strip(), end)
