"""Word lists of parsers: text files of sections, one pattern a line."""

from functools import cache
from pathlib import Path


def section_lines(file: Path, section: str) -> tuple[str, ...]:
    """Read the lines below the heading "== SECTION"; KeyError if there is no such heading."""
    return _sections(file)[section]


def section_names(file: Path) -> tuple[str, ...]:
    """List the sections of a file in their order."""
    return tuple(_sections(file))


def alternatives(file: Path, section: str) -> str:
    """Join the lines of a section and its subsections as alternatives of one pattern.

    "hedge / of options" is a subsection of "hedge"; its full name selects its own lines only.
    """
    sections = [name for name in section_names(file) if name.partition(" / ")[0] == section]
    return "|".join(line for name in sections or [section] for line in section_lines(file, name))


@cache
def _sections(file: Path) -> dict[str, tuple[str, ...]]:
    sections: dict[str, list[str]] = {}
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("== "):
            current = sections.setdefault(line.removeprefix("== "), [])
        elif line and not line.startswith("# "):
            current.append(line)
    return {name: tuple(lines) for name, lines in sections.items()}
