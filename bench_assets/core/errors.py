"""Every error this project raises on purpose.

BenchError
├── SourceError       a source file is missing, truncated or not as its authors describe it
├── ImageError        a picture cannot be decoded, or is larger than the limits allow
├── TableError        a table is missing or does not have the columns its row type declares
├── SettingsError     bench.toml, or what was given on the command line, cannot be used as it is
├── UnknownNameError  no model, judge, suite or reading has that name
└── ModelError        a model could not be asked; says nothing about how good it is
"""

from collections.abc import Iterable


class BenchError(Exception):
    """Base of all errors raised on purpose; its text is written for the person who meets it."""


class SourceError(BenchError):
    """A source file is missing, truncated or has an unexpected shape; names file and entry."""


class ImageError(BenchError):
    """A picture cannot be decoded, or is larger than the limits allow."""


class TableError(BenchError):
    """A table is missing, lacks a declared column or holds an undeclared one."""


class SettingsError(BenchError):
    """The configuration cannot be used as it is; names the file and the entry."""


class UnknownNameError(BenchError):
    """No model, judge, suite or reading has that name; lists those that exist."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        listed = ", ".join(sorted(set(known))) or "none"
        super().__init__(f"no {what} named {name!r}; known: {listed}")


class ModelError(BenchError):
    """A model could not be asked at all: weights do not load, a server cannot be reached."""
