"""The pages of the documentation, with their blocks of code.

The first line of a block has its language, and how the block is tested:

    console run             each line is a command, and ends well
    console run long        the same, in ``make long``
    console named: REASON   its commands, options and values are parsed, but not run
    toml                    is read as the settings of a home; ``toml pyproject.toml`` as TOML alone
    jsonl NAME, json NAME   is written into the folder where the page's commands are run
    python run              is executed there, ``python run long`` likewise
    python NAME.py          is a file of the page, and test_followed_pages.py runs it
    text                    is only shown; ``text NAME.yaml`` is such a file

In other blocks, indented ones and code in a line, the names of commands and options must exist.
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
    """A block of a page, with the way in which it is tested."""

    language: str
    how: str
    text: str

    @property
    def lines(self) -> list[str]:
        """Its lines without comments; lines that end in a backslash are joined."""
        joined = self.text.replace("\\\n", " ")
        return [line for line in joined.splitlines() if line.strip() and line[0] != "#"]


def pages() -> list[Path]:
    """The README and all pages of docs/ that people write."""
    docs = sorted((CHECKOUT / "docs").glob("*.md"))
    return [CHECKOUT / "README.md", *docs]


def blocks(page: str) -> list[Block]:
    page_blocks = []
    for match in _FENCED.finditer(page):
        language, _, how = match["how"].strip().partition(" ")
        page_blocks.append(Block(language, how, match["text"]))
    return page_blocks


def mentioned_commands(page: str) -> Iterator[str]:
    """Commands in a line of text, in an indented block, or in a block without a language."""
    for block in blocks(page):
        if not block.language:
            yield from block.lines
    unfenced = _FENCED.sub("", page)
    for match in _INDENTED.finditer(unfenced):
        yield from (line.strip() for line in match[0].splitlines())
    yield from _IN_A_LINE.findall(_INDENTED.sub("", unfenced))


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", _FENCED.sub("", page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
