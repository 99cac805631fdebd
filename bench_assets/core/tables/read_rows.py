"""Rows read from raw files, collected for a comparison with an earlier build."""

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
    reasons: dict[str, str] = field(default_factory=dict)  # of rejected rows
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
    """Collect the rows that are read within the context; ``take_rows`` returns them."""
    _collected.set(defaultdict(FileRows))
    try:
        yield
    finally:
        _collected.set(None)


def record_row(where: str, row: object = None, reason: str = "") -> None:
    """Record a row and its filled fields, also of inner objects; only within ``collect_rows``.

    ``where`` is its file with its place there, and ``reason`` says why it was rejected.
    """
    collected = _collected.get()
    if collected is None:
        return
    file, _ = split_location(where)
    rows = collected[file]
    rows.fields[where] = tuple(dict.fromkeys(_filled_fields(row))) or rows.fields.get(where, ())
    if row:
        rows.hashes[where] = hash(repr(row))
    if reason:
        rows.reasons[where] = reason


def take_rows() -> dict[Path, FileRows]:
    """Return the rows that were collected since the last call, by file."""
    collected = _collected.get() or {}
    rows_by_file = dict(collected)
    collected.clear()
    return rows_by_file


def split_location(where: str) -> tuple[Path, str]:
    """Split the location of a row at the first comma that follows a file name with a suffix.

    Of several such commas, the first without a folder behind it counts.

    >>> split_location("/Doe, Jane/a.json, entry 5"), split_location("/v1.0, new/a.json, entry 5")
    ((PosixPath('/Doe, Jane/a.json'), 'entry 5'), (PosixPath('/v1.0, new/a.json'), 'entry 5'))
    """
    parts = where.split(", ")
    splits = [(Path(", ".join(parts[:n])), ", ".join(parts[n:])) for n in range(1, len(parts))]
    splits = [(file, row) for file, row in splits if file.suffix] or [(Path(where), "")]
    without_folder = [(file, row) for file, row in splits if "/" not in row]
    return (without_folder or splits)[0]


def _filled_fields(value: object, prefix: str = "") -> Iterator[str]:
    """Names of the fields with a value; those of inner objects have a dotted prefix."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if inner is not None and inner not in ("", [], {}):
                yield intern(f"{prefix}{name}")
                yield from _filled_fields(inner, f"{prefix}{name}.")
    elif isinstance(value, list):
        for inner in value:
            yield from _filled_fields(inner, prefix)
