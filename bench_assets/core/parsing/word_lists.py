"""Word lists of parsers: text files of sections, one pattern a line."""

from functools import cache
from pathlib import Path


@cache
def lines_of_section(file: Path, section: str) -> tuple[str, ...]:
    """Read the lines of a section, which begins with "== " and its name; KeyError if none does."""
    sections: dict[str, list[str]] = {}
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("== "):
            current = sections.setdefault(line.removeprefix("== "), [])
        elif line and not line.startswith("# "):
            current.append(line)
    return tuple(sections[section])


def alternatives(file: Path, section: str) -> str:
    """Join the lines of a section as alternatives of one pattern."""
    return "|".join(lines_of_section(file, section))
