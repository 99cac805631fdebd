"""Cuts a response into tokens by the words of ``letter_words`` (for ``sentences``)."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from bench_assets.suites.multi.parsing.letter_words import FILLER, WORDS

_LETTER = re.compile("[A-Z]")
_MANY = 100  # letters in a row; of more, each counts once
_SHOWN = 100  # characters of them that are kept


class Token(NamedTuple):
    """A word that matters, letters of options, or other text."""

    kind: str
    text: str
    start: int
    letters: str = ""  # of the kinds "run", and "open" for letters joined by "or"


def tokens_of(text: str, offered: str) -> list[Token]:
    """Cut a text into tokens; letters that belong together are one."""
    found: list[Token] = []
    for token in _words(text, offered):
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
                text=text[first.start : token.start][:_SHOWN] + token.text,
                letters=more(first.letters, token.letters),
            )
        )
    return [*found, Token("stop", "", len(text))]


def more(letters: str, others: str) -> str:
    """Letters followed by others, without repetitions."""
    if len(letters) < _MANY:
        return letters + others
    return letters + "".join(dict.fromkeys(one for one in others if one not in letters))


def _words(text: str, offered: str) -> Iterator[Token]:
    end, filled = 0, False
    for found in WORDS.finditer(text):
        yield from _between(text, end, found.start())
        *above, line = text[end : found.start()].rsplit("\n", 1)
        filled = bool(line.strip()) or (filled and not above)
        kind = str(found.lastgroup)
        letters = "".join(_LETTER.findall(found[0])) if kind == "run" else ""
        known = letters if set(letters) <= set(offered) else ""
        yield Token(kind if known or not letters else "text", found[0], found.start(), known)
        end = found.end()
        if known and found[0].endswith(".") and filled:
            yield Token("stop", ".", end - 1)  # within a line it is no label
        *above, line = found[0].rsplit("\n", 1)
        filled = bool(line.strip()) or (filled and not above)
    yield from _between(text, end, len(text))


def _between(text: str, start: int, end: int) -> Iterator[Token]:
    words = re.sub(r"[^\w\s]", "", text[start:end])
    if not FILLER.fullmatch(words):
        yield Token("text", text[start:end].strip(), start)
