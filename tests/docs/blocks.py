"""The pages of the documentation, and what of them can be tried.

A block says in its first line, behind its language, how it is tried:

    console run             each line is a command, and ends well
    console run long        the same, in ``make long``
    console named: WHY      its commands, options and values are parsed; it is not run, and why
    toml                    is read as the settings of a home; ``toml pyproject.toml`` as TOML alone
    jsonl NAME, json NAME   is written into the folder where the page's commands are run
    python run              is executed there, ``python run long`` likewise
    python NAME.py          is a file of the page, and test_followed_pages.py runs it
    text                    is only shown; ``text NAME.yaml`` is such a file

Other blocks, indented ones, and code in a line are looked through for commands, which must be ones.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).parent.parent.parent

_FENCED = re.compile(r"^```(?P<how>[^\n`]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?:^    \S[^\n]*\n?)+", re.MULTILINE)
_IN_A_LINE = re.compile(r"`((?:[\w./]*/)?(?:bench|make) [^`\n]+)`")


class Block(NamedTuple):
    """A block of a page, and how it says that it is tried."""

    language: str
    how: str
    text: str

    @property
    def lines(self) -> list[str]:
        """Its lines, those that end in a backslash put together."""
        whole = self.text.replace("\\\n", " ")
        return [line for line in whole.splitlines() if line.strip() and line[0] != "#"]


def pages() -> list[Path]:
    """The README and all pages of docs/ that people write."""
    docs = sorted((CHECKOUT / "docs").glob("*.md"))
    return [CHECKOUT / "README.md", *docs]


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    found = []
    for match in _FENCED.finditer(page):
        language, _, how = match["how"].strip().partition(" ")
        found.append(Block(language, how, match["text"]))
    return found


def mentioned(page: str) -> Iterator[str]:
    """Commands that stand in a line of text, in an indented block, or in one that says nothing."""
    for block in blocks(page):
        if not block.language:
            yield from block.lines
    rest = _FENCED.sub("", page)
    for match in _INDENTED.finditer(rest):
        yield from (line.strip() for line in match[0].splitlines())
    yield from _IN_A_LINE.findall(_INDENTED.sub("", rest))


def headings(page: str) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", _FENCED.sub("", page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in found}
