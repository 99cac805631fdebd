"""Every error this project raises on purpose.

BenchError
├── SourceError       a source file is missing, truncated or not as its authors describe it
├── ImageError        an image cannot be decoded, or is larger than the limits allow
├── TableError        a table is missing or does not have the columns its row type declares
├── HomeError         the home folder cannot be read or written: damaged, full, read-only
├── SettingsError     bench.toml, or what was given on the command line, cannot be used as it is
├── UnknownNameError  no model, judge, suite or reading has that name
└── ModelError        a model could not be asked; says nothing about how good it is
"""

from collections.abc import Iterable

from bench_assets.core.text.suggestions import did_you_mean, nearest


class BenchError(Exception):
    """Base of all errors raised on purpose; its text is written for the person who meets it."""


class SourceError(BenchError):
    """A source file is missing, truncated or has an unexpected shape; names file and entry."""


class ImageError(BenchError):
    """An image cannot be decoded, or is larger than the limits allow."""


class TableError(BenchError):
    """A table is missing, lacks a declared column or holds an undeclared one."""


class HomeError(BenchError):
    """Something in the home folder cannot be read or written; names the place."""


class SettingsError(BenchError):
    """The configuration cannot be used as it is; names the file and the entry."""


class UnknownNameError(BenchError):
    """No model, judge, suite or reading has that name; lists those that exist, and the nearest.

    Where there are too many to list, ``all_by`` is the command that does; ``also`` says what else
    may be named.
    """

    def __init__(
        self, what: str, name: str, known: Iterable[str], *, all_by: str = "", also: str = ""
    ) -> None:
        there_are = sorted(set(known))
        if all_by:
            near = ", ".join(nearest(name, there_are)) or "none"
            listed = f"nearest: {near}; `{all_by}` lists all {len(there_are)}"
        else:
            meant = did_you_mean(name, there_are)
            listed = f"known: {', '.join(there_are) or 'none'}{meant and f'; {meant}'}"
        super().__init__(f"no {what} named {name!r}; {listed}{also and f'; {also}'}")


class ModelError(BenchError):
    """A model could not be asked at all: weights do not load, a server cannot be reached."""
