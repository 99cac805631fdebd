"""Tables of a dataset build: rows beside the rejections of all others, and counts of each step."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from bench_assets.core.schema.errors import ImageError, SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.read_rows import record_row, split_location

Row = TypeVar("Row")


@dataclass(slots=True)
class Table(Generic[Row]):
    """Rows that were read or selected, and the rejections of all others.

    Attributes:
        errors: Errors behind those rejections that ``rejecting`` added.
    """

    rows: list[Row] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    errors: list[SourceError | ImageError] = field(default_factory=list, compare=False, repr=False)

    @contextmanager
    def rejecting(self, where: str) -> Iterator[None]:
        """Record a row; its source or image error becomes a rejection, and later rows are read."""
        record_row(where)
        try:
            yield
        except (SourceError, ImageError) as error:
            reason = str(error).removeprefix(f"{where}: ")
            record_row(where, reason=reason)
            self.errors.append(error)
            self.rejections.append(make_rejection(where, reason))

    def reject(self, entry: str, reason: str) -> None:
        """Add a rejection."""
        self.rejections.append(Rejection(entry=entry, reason=reason))

    def require(self) -> list[Row]:
        """Return the rows.

        Raises:
            SourceError or ImageError: The first that ``rejecting`` turned into a rejection.
        """
        if self.errors:
            raise self.errors[0]
        return self.rows


def make_rejection(where: str, reason: str) -> Rejection:
    """Build the rejection of a row, located by its file without the folder.

    >>> make_rejection("/data/test.json, entry 5", "no field 'id'").entry
    'test.json, entry 5'
    """
    file, row = split_location(where)
    return Rejection(entry=", ".join(filter(None, (file.name, row))), reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelStep:
    """Number of items that remain after one step of a dataset build."""

    step: str
    n: int
    paper: int | None = None  # None where the paper gives no number
