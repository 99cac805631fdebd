"""Rows that are read of raw files, collected for whoever compares them with an earlier build."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern


@dataclass(slots=True)
class FileRows:
    """Rows of a file by their location; a row that is read twice is one row."""

    fields: dict[str, Sequence[str]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)  # of those that are rejected
    hashes: dict[str, int] = field(default_factory=dict)  # of contents, within this process

    @property
    def field_counts(self) -> Mapping[str, int]:
        """Number of rows in which each field is filled."""
        return Counter(name for names in self.fields.values() for name in names)

    @property
    def n_repeated(self) -> int:
        """Number of rows with the content of an earlier one."""
        return len(self.hashes) - len({*self.hashes.values()})

    def add(self, other: "FileRows") -> None:
        """Add the rows of another file of the same folder."""
        self.fields.update(other.fields)
        self.reasons.update(other.reasons)
        self.hashes.update(other.hashes)


_collected: ContextVar[dict[Path, FileRows] | None] = ContextVar("read_rows", default=None)


@contextmanager
def collect_rows() -> Iterator[None]:
    """Collect the rows that are read meanwhile; ``take_rows`` returns them."""
    _collected.set(defaultdict(FileRows))
    try:
        yield
    finally:
        _collected.set(None)


def record_row(where: str, row: object = None, reason: str = "") -> None:
    """Record a row, if anybody collects them, with its filled fields, of inner objects too."""
    if (collected := _collected.get()) is not None:
        rows = collected[Path(where.partition(", ")[0])]
        rows.fields[where] = tuple(dict.fromkeys(_names(row))) or rows.fields.get(where, ())
        if row:
            rows.hashes[where] = hash(repr(row))
        if reason:
            rows.reasons[where] = reason


def take_rows() -> dict[Path, FileRows]:
    """Take the rows that were collected since the last call, by file."""
    collected = _collected.get() or {}
    taken = dict(collected)
    collected.clear()
    return taken


def _names(value: object, above: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if inner is not None and inner not in ("", [], {}):
                yield intern(f"{above}{name}")
                yield from _names(inner, f"{above}{name}.")
    elif isinstance(value, list):
        for inner in value:
            yield from _names(inner, above)
