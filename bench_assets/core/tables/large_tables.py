"""Rows that are too many to be held: packed in blocks, and made while they are looked at.

A row takes 1 to 2 kB as an object and 20 to 100 bytes packed. Up to one block of rows are a list,
and nothing about them is slower.

Numbers for texts that are too many to be held, in the order in which they came first.
"""

import io
from array import array
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, overload

import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.tables.arrow import TableDigest, digest, schema, to_rows, to_table, values

Row = TypeVar("Row")

BLOCK = 8192
"""Rows that are made at once; a table of no more is a list."""

_CHUNK = 8 * BLOCK  # rows that are brought into another order at once


class Blocks(Protocol):
    """Where the blocks of a table lie."""

    @property
    def sizes(self) -> Sequence[int]:
        """Rows of each."""
        ...

    def table(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """One of them, or these columns of it."""
        ...


class PackedRows:
    """Blocks in memory, compressed."""

    def __init__(self) -> None:
        """Begin without any."""
        self.sizes: list[int] = []
        self._packed: list[bytes] = []

    def add(self, table: pa.Table) -> None:
        """Pack one more."""
        packed = io.BytesIO()
        pq.write_table(table, packed, compression="zstd")
        self._packed.append(packed.getvalue())
        self.sizes.append(table.num_rows)

    def table(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Unpack one."""
        return InFile(self._packed[number]).table(0, columns)


class InFile:
    """Blocks that are the row groups of a Parquet file: no more than one of them is held."""

    def __init__(self, source: Path | bytes) -> None:
        """Open it, for as long as this lives."""
        lies = pa.BufferReader(source) if isinstance(source, bytes) else source
        self._file = pq.ParquetFile(lies, page_checksum_verification=True)
        about = self._file.metadata
        self.sizes = [about.row_group(n).num_rows for n in range(about.num_row_groups)]

    def table(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Read one."""
        return self._file.read_row_group(number, columns=columns, use_threads=False)

    def blocks(self, most: int = BLOCK) -> Blocks:
        """Its row groups; packed in smaller ones where it was written in larger ones."""
        if max(self.sizes, default=0) <= most:
            return self
        packed = PackedRows()
        for batch in self._file.iter_batches(most, use_threads=False):
            packed.add(pa.Table.from_batches([batch]))
        return packed


class LargeTable(Sequence[Row]):
    """A table to be gone through, in which a row is found by its place as well, but slowly."""

    def __init__(self, blocks: Blocks, row_type: type[Row], digest: str = "") -> None:
        """Say where its blocks lie; ``digest`` is that of its rows, where it is known."""
        self.row_type = row_type
        self.blocks = blocks
        self._ends = list(accumulate(blocks.sizes))
        self._known = digest
        self._last: tuple[int, pa.Table] | None = None

    @cached_property
    def digest(self) -> str:
        """What ``core.tables.digest`` says of a list of the same rows."""
        return self._known or digest(iter(self))

    def __len__(self) -> int:
        """Rows in all."""
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[Row]:
        """Make the rows, a block at a time."""
        for table in self.tables():
            yield from to_rows(table, self.row_type)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        """Make one row, or some of them in a list."""
        if isinstance(place, slice):
            return list(self.at(range(len(self))[place]))
        place = range(len(self))[place]
        number, within = self._block_of(place)
        if self._last is None or self._last[0] != number:
            self._last = number, self.blocks.table(number)
        return to_rows(self._last[1].slice(within, 1), self.row_type)[0]

    def __eq__(self, other: object) -> bool:
        """Whether the rows are equal, however they are held."""
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def has(self, column: str) -> bool:
        """Whether a column is there; if not, each row has its default."""
        return column in self.blocks.table(0, [column]).column_names

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The blocks, one after the other, or these columns of them."""
        return (self.blocks.table(number, columns) for number in range(len(self.blocks.sizes)))

    def at(self, places: Iterable[int]) -> Iterator[Row]:
        """Make the rows at these places; quick where places of one block follow each other."""
        for number, run in groupby(map(self._block_of, places), lambda found: found[0]):
            table, within = self.blocks.table(number), [place for _, place in run]
            for start in range(0, len(within), BLOCK):
                yield from to_rows(table.take(within[start : start + BLOCK]), self.row_type)

    def in_order(self, places: Sequence[int]) -> "LargeTable[Row]":
        """The rows at these places as a table of its own, whatever their order."""
        packed = PackedRows()
        for start in range(0, len(places), _CHUNK):
            chunk = self._taken(places[start : start + _CHUNK])
            for begin in range(0, chunk.num_rows, BLOCK):
                packed.add(chunk.slice(begin, BLOCK))
        return LargeTable(packed, self.row_type)

    def _taken(self, places: Sequence[int]) -> pa.Table:
        """Take rows block by block, then bring them into order."""
        sorted_ = sorted(range(len(places)), key=places.__getitem__)
        runs = groupby((self._block_of(places[n]) for n in sorted_), lambda found: found[0])
        parts = [self.blocks.table(number).take([at for _, at in run]) for number, run in runs]
        back = [0] * len(sorted_)
        for now, before in enumerate(sorted_):
            back[before] = now
        return pa.concat_tables(parts).take(back)

    def _block_of(self, place: int) -> tuple[int, int]:
        """In which block a row lies, and where in it."""
        number = bisect_right(self._ends, place)
        return number, place - (self._ends[number - 1] if number else 0)


class RowCollector(Generic[Row]):
    """Takes in rows one after the other: a list of them as long as they are few."""

    def __init__(self, row_type: type[Row]) -> None:
        """Begin without any."""
        self._row_type = row_type
        self._last: list[Row] = []
        self._packed = PackedRows()
        self._digesting = TableDigest()

    def append(self, row: Row) -> None:
        """Take in one more."""
        if len(self._last) == BLOCK:
            self._pack()
        self._last.append(row)

    def rows(self) -> Sequence[Row]:
        """All of them; nothing may be taken in any more."""
        if not self._packed.sizes:
            return self._last
        self._pack()
        return LargeTable(self._packed, self._row_type, self._digesting.hexdigest())

    def _pack(self) -> None:
        for row in self._last:
            self._digesting.add(row)
        self._packed.add(to_table(self._last, self._row_type))
        self._last = []


def gathered(rows: Iterable[Row], row_type: type[Row]) -> Sequence[Row]:
    """Hold rows: as a list where they are few."""
    gathering = RowCollector(row_type)
    for row in rows:
        gathering.append(row)
    return gathering.rows()


def at(rows: Sequence[Row], places: Iterable[int]) -> Iterator[Row]:
    """The rows at these places; quick where they ascend."""
    return rows.at(places) if isinstance(rows, LargeTable) else (rows[place] for place in places)


def column(rows: Sequence[Row], name: str) -> Iterator[Any]:
    """The values of one column, without rows where they are not made yet."""
    if isinstance(rows, LargeTable) and rows.has(name):
        kind = schema(rows.row_type).field(name).type
        for table in rows.tables([name]):
            yield from values(table.column(name), kind)
    else:  # also where the table is older than the column
        for row in rows:
            yield getattr(row, name)


def all_different(keys: Iterable[Hashable]) -> bool:
    """Whether no two are equal, without holding them; two of a million seldom look alike."""
    return all(a != b for a, b in pairwise(sorted(map(hash, keys))))


def in_blocks(rows: Sequence[Any], row_type: type[Any]) -> Iterator[pa.Table]:
    """Tables of no more than a block each; one, without rows, where there are none."""
    if isinstance(rows, LargeTable) and rows.row_type is row_type:
        yield from rows.tables()
    else:
        for start in range(0, max(len(rows), 1), BLOCK):
            yield to_table(rows[start : start + BLOCK], row_type)


def altered(rows: Sequence[Row], **values: Any) -> Sequence[Row]:  # noqa: ANN401
    """Rows with other values in some columns."""
    if isinstance(rows, LargeTable):
        return gathered((replace(row, **values) for row in rows), rows.row_type)
    return [replace(row, **values) for row in rows]  # type: ignore[type-var]


_BYTES = 16  # of a digest: two of a million are never alike
_LEAST = 1 << 10  # places; always a power of two


class TextIndex:
    """Texts by their digests: 24 to 32 bytes each, where a dictionary takes 200 and more."""

    def __init__(self) -> None:
        """Begin without any."""
        self._digests = bytearray()  # one after the other
        self._places = array("I", bytes(array("I").itemsize * _LEAST))  # number + 1; 0: free

    def __len__(self) -> int:
        """How many there are."""
        return len(self._digests) // _BYTES

    def find(self, text: str) -> int | None:
        """The number of a text; None if it never came.

        >>> some = TextIndex()
        >>> [some.number("b"), some.number("a"), some.number("b"), some.find("c")]
        [0, 1, 0, None]
        """
        digest = _digest(text)
        number = self._places[self._place(digest)]
        return number - 1 if number else None

    def number(self, text: str) -> int:
        """The number of a text, which is new if it never came."""
        digest = _digest(text)
        place = self._place(digest)
        if not self._places[place]:
            self._digests += digest
            self._places[place] = len(self)
            if 2 * len(self) > len(self._places):
                self._widen()
                return len(self) - 1
        return self._places[place] - 1

    def _place(self, digest: bytes) -> int:
        """Where a digest is, or would be: the first place that is free, from its own on."""
        last = len(self._places) - 1
        place = int.from_bytes(digest[:8]) & last
        while number := self._places[place]:
            if self._digests[_BYTES * (number - 1) : _BYTES * number] == digest:
                break
            place = (place + 1) & last
        return place

    def _widen(self) -> None:
        """Put all into twice as many places."""
        self._places = array("I", bytes(2 * len(self._places) * self._places.itemsize))
        for number in range(len(self)):
            digest = bytes(self._digests[_BYTES * number : _BYTES * (number + 1)])
            self._places[self._place(digest)] = number + 1


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()
