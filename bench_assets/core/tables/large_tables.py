"""Tables larger than memory: rows in compressed blocks, joined with their questions blockwise.

A row takes 1 to 2 kB as an object and 20 to 100 bytes compressed. A table of at most one block is a
list; ``rows_at``, ``select_rows``, ``column`` and ``block_tables`` read both.
"""

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, groupby, islice, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.core.tables.arrow import (
    TableDigest,
    arrow_schema,
    column_values,
    digest,
    to_rows,
    to_table,
)

Row = TypeVar("Row")
Answer = TypeVar("Answer", Prediction, Judgement, Score)
Pair = TypeVar("Pair")
Ints: TypeAlias = npt.NDArray[np.int32]
Identity: TypeAlias = tuple[str, str, str, int]  # question, model, condition, sample

BLOCK_ROWS = 8192
"""Rows per block; a table of at most that many rows is a list."""

_CHUNK = 8 * BLOCK_ROWS  # rows that are sorted at once


class Blocks:
    """Blocks of rows: the row groups of a Parquet file, of which one is read at a time."""

    def __init__(self, source: Path | pa.Buffer) -> None:
        self._file = pq.ParquetFile(
            pa.BufferReader(source) if isinstance(source, pa.Buffer) else source,
            page_checksum_verification=True,
        )
        self.columns = self._file.schema_arrow
        metadata = self._file.metadata
        self.sizes = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]

    def table(self, number: int, columns: Sequence[str] | None = None) -> pa.Table:
        """Read one block; ``columns`` None: all columns."""
        return self._file.read_row_group(number, columns=columns, use_threads=False)

    def split(self, most: int = BLOCK_ROWS) -> "Blocks":
        """The same rows in blocks of at most ``most``."""
        if max(self.sizes, default=0) <= most:
            return self
        smaller = BlockWriter(self.columns)
        for batch in self._file.iter_batches(most, use_threads=False):
            smaller.add(pa.Table.from_batches([batch]))
        return smaller.blocks()


class BlockWriter:
    """Compresses blocks in memory."""

    def __init__(self, columns: pa.Schema) -> None:
        self._data = pa.BufferOutputStream()
        self._file = pq.ParquetWriter(
            self._data, columns, compression="zstd", write_page_checksum=True
        )

    def add(self, table: pa.Table) -> None:
        """Write the rows of a table as one block."""
        self._file.write_table(table, row_group_size=table.num_rows)

    def blocks(self) -> Blocks:
        """Close the writer and read the blocks back."""
        self._file.close()
        return Blocks(self._data.getvalue())


class LargeTable(Sequence[Row]):
    """Rows in blocks, as a sequence: quick to iterate, slow to index."""

    def __init__(self, blocks: Blocks, row_type: type[Row], digest: str = "") -> None:
        """Store blocks; ``digest`` is that of their rows, if known."""
        self.row_type = row_type
        self.blocks = blocks
        self._ends = list(accumulate(blocks.sizes))
        self._known = digest
        self._last: tuple[int, pa.Table] | None = None

    @cached_property
    def digest(self) -> str:
        """The ``core.tables.arrow.digest`` of the rows."""
        return self._known or digest(iter(self))

    def __len__(self) -> int:
        """Number of rows."""
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
        """Return one row, or a list of the rows of a slice."""
        if isinstance(place, slice):
            return list(self.at(range(len(self))[place]))
        number, offset = self._locate(range(len(self))[place])
        if self._last is None or self._last[0] != number:
            self._last = number, self.blocks.table(number)
        return to_rows(self._last[1].slice(offset, 1), self.row_type)[0]

    def __eq__(self, other: object) -> bool:
        """Whether the rows are equal, in a list or in blocks."""
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == its for mine, its in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def has(self, column: str) -> bool:
        """Whether a column is stored; rows of older tables have its default."""
        return column in self.blocks.columns.names

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The blocks in order; ``columns`` None: all columns."""
        return (self.blocks.table(number, columns) for number in range(len(self.blocks.sizes)))

    def cut(self, ends: Iterable[int], columns: Sequence[str]) -> Iterator[pa.Table]:
        """Cut these columns at ascending row positions: one table per position, ending there."""
        rest, start = self.blocks.columns.empty_table().select(columns), 0
        blocks = self.tables(columns)
        for end in ends:
            while start + rest.num_rows < end:
                rest = pa.concat_tables([rest, next(blocks)])
            yield rest.slice(0, end - start)
            rest, start = rest.slice(end - start), end

    def ordered_rows(self, ids: pa.Array) -> "tuple[LargeTable[Row], Ints]":
        """The rows about these question ids, in their order, and each row's index in ``ids``."""
        import pyarrow.compute as pc  # takes 0.05 s; most commands do not need it

        name = ["question_id"]
        nothing = self.blocks.columns.empty_table().select(name)
        row_ids = pa.concat_tables([nothing, *self.tables(name)]).column(0).cast(pa.string())
        places = pc.index_in(row_ids, value_set=ids).fill_null(len(ids)).to_numpy()
        rows = self
        if (places[1:] < places[:-1]).any():
            order = np.argsort(places, kind="stable")
            rows, places = self.taken(array("I", order)), places[order]
        return rows, places[: np.searchsorted(places, len(ids))]

    def at(self, places: Iterable[int]) -> Iterator[Row]:
        """The rows at these positions; fast if positions of one block follow each other."""
        for number, run in groupby(map(self._locate, places), lambda found: found[0]):
            table, offsets = self.blocks.table(number), [place for _, place in run]
            for start in range(0, len(offsets), BLOCK_ROWS):
                yield from to_rows(table.take(offsets[start : start + BLOCK_ROWS]), self.row_type)

    def taken(self, places: Sequence[int]) -> "LargeTable[Row]":
        """A table of the rows at these positions, in any order."""
        writer = BlockWriter(self.blocks.table(0).schema)
        for start in range(0, len(places), _CHUNK):
            chunk = self._chunk(places[start : start + _CHUNK])
            for begin in range(0, chunk.num_rows, BLOCK_ROWS):
                writer.add(chunk.slice(begin, BLOCK_ROWS))
        return LargeTable(writer.blocks(), self.row_type)

    def _chunk(self, places: Sequence[int]) -> pa.Table:
        """Read rows block by block, then put them into the order of ``places``."""
        order = sorted(range(len(places)), key=places.__getitem__)
        runs = groupby((self._locate(places[n]) for n in order), lambda found: found[0])
        parts = [self.blocks.table(number).take([at for _, at in run]) for number, run in runs]
        inverse = [0] * len(order)
        for now, before in enumerate(order):
            inverse[before] = now
        return pa.concat_tables(parts).take(inverse)

    def _locate(self, place: int) -> tuple[int, int]:
        """The block of a row, and its position in the block."""
        number = bisect_right(self._ends, place)
        return number, place - (self._ends[number - 1] if number else 0)


class RowCollector(Generic[Row]):
    """Collects rows: a list up to one block, packed beyond."""

    def __init__(self, row_type: type[Row], first: list[Row] | None = None) -> None:
        """Create a collector; ``first`` holds at most one block of rows."""
        self._row_type = row_type
        self._last: list[Row] = first or []
        self._writer: BlockWriter | None = None
        self._digest = TableDigest()

    def append(self, row: Row) -> None:
        """Add a row."""
        if len(self._last) == BLOCK_ROWS:
            self._flush()
        self._last.append(row)

    def rows(self) -> Sequence[Row]:
        """All rows; the collector is closed."""
        if self._writer is None:
            return self._last
        self._flush()
        return LargeTable(self._writer.blocks(), self._row_type, self._digest.hexdigest())

    def _flush(self) -> None:
        for row in self._last:
            self._digest.add(row)
        if self._writer is None:
            self._writer = BlockWriter(arrow_schema(self._row_type))
        self._writer.add(to_table(self._last, self._row_type))
        self._last = []


def collect_rows(rows: Iterable[Row], row_type: type[Row]) -> Sequence[Row]:
    """Collect rows: a list up to one block, packed beyond."""
    rest = iter(rows)
    collector = RowCollector(row_type, list(islice(rest, BLOCK_ROWS)))
    for row in rest:
        collector.append(row)
    return collector.rows()


def rows_at(rows: Sequence[Row], places: Iterable[int]) -> Iterator[Row]:
    """The rows at these positions; fast for ascending ones."""
    return rows.at(places) if isinstance(rows, LargeTable) else (rows[place] for place in places)


def select_rows(rows: Sequence[Row], places: Sequence[int]) -> Sequence[Row]:
    """A table of the rows at these positions, in any order."""
    return rows.taken(places) if isinstance(rows, LargeTable) else [rows[n] for n in places]


def column(rows: Sequence[Row], name: str) -> Iterator[Any]:
    """Values of one column, without reading the others."""
    if isinstance(rows, LargeTable) and rows.has(name):
        kind = arrow_schema(rows.row_type).field(name).type
        return (v for table in rows.tables([name]) for v in column_values(table.column(name), kind))
    return map(attrgetter(name), rows)  # also where the table is older than the column


def block_tables(rows: Sequence[Any], row_type: type[Any]) -> Iterator[pa.Table]:
    """Tables of at most a block each; one empty table if there are no rows."""
    if isinstance(rows, LargeTable) and rows.row_type is row_type:
        yield from rows.tables()
    else:
        for start in range(0, max(len(rows), 1), BLOCK_ROWS):
            yield to_table(rows[start : start + BLOCK_ROWS], row_type)


def are_distinct(keys: Iterable[Hashable]) -> bool:
    """Whether all keys differ, by 64-bit hashes, which collide rarely among millions."""
    return all(a != b for a, b in pairwise(sorted(map(hash, keys))))


class LazyPairs(Sequence[Pair], Generic[Answer, Pair]):
    """Pairs of rows and questions, created lazily."""

    def __init__(
        self,
        questions: Sequence[Question],
        rows: Sequence[Answer],
        make: Callable[[Question, Answer], Pair],
        places: Sequence[int],
        chosen: Sequence[int],
    ) -> None:
        """Pair rows with questions.

        Args:
            questions: All questions.
            rows: Rows about the questions.
            make: Makes a pair.
            places: Index of each row's question; ascending.
            chosen: Indices of the rows to pair.
        """
        self._questions, self._places = questions, places
        self._rows: Sequence[Answer] = rows
        self._make: Callable[[Question, Answer], Pair] = make
        self._chosen = chosen

    def __len__(self) -> int:
        """Number of items."""
        return len(self._chosen)

    def __iter__(self) -> Iterator[Pair]:
        """Create the pairs, a block at a time."""
        questions = rows_at(self._questions, (self._places[place] for place in self._chosen))
        return map(self._make, questions, rows_at(self._rows, self._chosen))

    @overload
    def __getitem__(self, place: int) -> Pair: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Pair]: ...
    def __getitem__(self, place: int | slice) -> Pair | Sequence[Pair]:
        """Return one pair, or the lazy pairs of a slice."""
        chosen = self._chosen[place]
        if isinstance(chosen, int):
            return self._make(self._questions[self._places[chosen]], self._rows[chosen])
        return self._select(chosen)

    def at(self, places: Iterable[int]) -> "LazyPairs[Answer, Pair]":
        """The pairs at these ascending positions."""
        return self._select(array("I", (self._chosen[place] for place in places)))

    def _select(self, chosen: Sequence[int]) -> "LazyPairs[Answer, Pair]":
        return LazyPairs(self._questions, self._rows, self._make, self._places, chosen)


def select_pairs(pairs: Sequence[Pair], places: Sequence[int]) -> Sequence[Pair]:
    """The pairs at these ascending positions."""
    return pairs.at(places) if isinstance(pairs, LazyPairs) else [pairs[n] for n in places]


def join_rows(
    questions: Sequence[Question],
    rows: Sequence[Answer],
    make: Callable[[Question, Answer], Pair],
    places: Sequence[int] | None = None,
) -> Sequence[Pair]:
    """Pair each row with its question; ``places`` are the positions of the questions, if known.

    Raises:
        KeyError: If a question is missing.
    """
    places = question_positions(questions, rows) if places is None else places
    if not isinstance(questions, LargeTable) and not isinstance(rows, LargeTable):
        # Created once: a metric may distinguish pairs by identity.
        return [make(questions[place], row) for place, row in zip(places, rows, strict=True)]
    if any(a > b for a, b in pairwise(places)):
        questions, places = select_rows(questions, places), range(len(rows))
    return LazyPairs(questions, rows, make, places, range(len(rows)))


def question_positions(questions: Sequence[Question], rows: Sequence[Answer]) -> Sequence[int]:
    """Position of each row's question.

    Raises:
        KeyError: If a question is missing.
    """
    found = _ordered_positions(questions, rows)
    if len(found) == len(rows):
        return found
    index = {name: place for place, name in enumerate(column(questions, "question_id"))}
    return array("I", (index[name] for name in column(rows, "question_id")))


def _ordered_positions(questions: Sequence[Question], rows: Sequence[Answer]) -> "array[int]":
    """Positions for rows in the order of the questions, up to the first row out of order."""
    found, place, current = array("I"), -1, None
    question_ids = column(questions, "question_id")
    for name in column(rows, "question_id"):
        while current != name:
            place += 1
            current = next(question_ids, None)
            if current is None:
                return found
        found.append(place)
    return found


def group_judgements(
    predictions: Sequence[Prediction], judgements: Sequence[Judgement]
) -> Iterator[Sequence[Judgement]]:
    """Judgements of each prediction, in order."""
    if _is_in_order(predictions, judgements):
        yield from _group_in_order(predictions, judgements)
        return
    found: dict[Identity, list[Judgement]] = defaultdict(list)
    for verdict in judgements:
        found[_identity(verdict)].append(verdict)
    for identity in _identities(predictions):
        yield found.get(identity, [])


def _is_in_order(predictions: Sequence[Prediction], judgements: Sequence[Judgement]) -> bool:
    """Whether judgements are in the order of their predictions."""
    rest = _identities(predictions)
    return all(one in rest for one, _ in groupby(_identities(judgements)))


def _group_in_order(
    predictions: Sequence[Prediction], judgements: Sequence[Judgement]
) -> Iterator[Sequence[Judgement]]:
    groups = groupby(judgements, _identity)
    of, group = next(groups, (None, iter(())))
    for identity in _identities(predictions):
        if identity == of:
            yield list(group)
            of, group = next(groups, (None, iter(())))
        else:
            yield []


def _identities(rows: Sequence[Prediction] | Sequence[Judgement]) -> Iterator[Identity]:
    names = ("question_id", "model", "condition", "sample")
    return zip(*(column(rows, name) for name in names), strict=True)


def _identity(row: Judgement) -> Identity:
    return row.question_id, row.model, row.condition, row.sample


_BYTES = 16  # size of a digest: among millions none collide
_INITIAL_SLOTS = 1 << 10  # initial slots; their number is a power of two


class TextIndex:
    """Index of texts by digest: 24 to 32 bytes each, instead of over 200 in a dictionary."""

    def __init__(self) -> None:
        """Create an empty index."""
        self._digests = bytearray()  # one after the other
        self._places = array(
            "I", bytes(array("I").itemsize * _INITIAL_SLOTS)
        )  # number + 1; 0: free

    def __len__(self) -> int:
        """Number of items."""
        return len(self._digests) // _BYTES

    def find(self, text: str) -> int | None:
        """Number of a text; None if it has none.

        >>> index = TextIndex()
        >>> [index.number("b"), index.number("a"), index.number("b"), index.find("c")]
        [0, 1, 0, None]
        """
        digest = _digest(text)
        number = self._places[self._find_slot(digest)]
        return number - 1 if number else None

    def number(self, text: str) -> int:
        """Number of a text; assigns the next one to a new text."""
        digest = _digest(text)
        place = self._find_slot(digest)
        if not self._places[place]:
            self._digests += digest
            self._places[place] = len(self)
            if 2 * len(self) > len(self._places):
                self._grow()
                return len(self) - 1
        return self._places[place] - 1

    def _find_slot(self, digest: bytes) -> int:
        """Slot of a digest: its own, or the next free one."""
        last = len(self._places) - 1
        place = int.from_bytes(digest[:8]) & last
        while number := self._places[place]:
            if self._digests[_BYTES * (number - 1) : _BYTES * number] == digest:
                break
            place = (place + 1) & last
        return place

    def _grow(self) -> None:
        """Double the number of slots."""
        self._places = array("I", bytes(2 * len(self._places) * self._places.itemsize))
        for number in range(len(self)):
            digest = bytes(self._digests[_BYTES * number : _BYTES * (number + 1)])
            self._places[self._find_slot(digest)] = number + 1


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_BYTES).digest()
