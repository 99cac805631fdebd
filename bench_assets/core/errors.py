"""Every error this project raises on purpose.

BenchError
├── SourceError       a source file is missing, truncated or not as its authors describe it
├── ImageError        a picture cannot be decoded, or is larger than the limits allow
├── TableError        a table is missing or does not have the columns its row type declares
├── HomeError         the home folder cannot be read or written: damaged, full, read-only
├── SettingsError     bench.toml, or what was given on the command line, cannot be used as it is
├── UnknownNameError  no model, judge, suite or reading has that name
└── ModelError        a model could not be asked; says nothing about how good it is
"""

from collections.abc import Iterable
from difflib import get_close_matches


class BenchError(Exception):
    """Base of all errors raised on purpose; its text is written for the person who meets it."""


class SourceError(BenchError):
    """A source file is missing, truncated or has an unexpected shape; names file and entry."""


class ImageError(BenchError):
    """A picture cannot be decoded, or is larger than the limits allow."""


class TableError(BenchError):
    """A table is missing, lacks a declared column or holds an undeclared one."""


class HomeError(BenchError):
    """Something in the home folder cannot be read or written; names the place."""


class SettingsError(BenchError):
    """The configuration cannot be used as it is; names the file and the entry."""


class UnknownNameError(BenchError):
    """No model, judge, suite or reading has that name; lists those that exist, and the nearest."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        there_are = sorted(set(known))
        near = get_close_matches(name, there_are, 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        super().__init__(
            f"no {what} named {name!r}; known: {', '.join(there_are) or 'none'}{meant}"
        )


class ModelError(BenchError):
    """A model could not be asked at all: weights do not load, a server cannot be reached."""
