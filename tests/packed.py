"""Tables that are large because their blocks are small."""

from collections.abc import Sequence
from typing import Any

from bench_assets.core.tables.arrow import to_table
from bench_assets.core.tables.large_tables import LargeTable, PackedRows


def packed(rows: Sequence[Any], size: int = 3) -> LargeTable[Any]:
    """The same rows in blocks of three."""
    blocks = PackedRows()
    for start in range(0, len(rows), size):
        blocks.add(to_table(rows[start : start + size], type(rows[0])))
    return LargeTable(blocks, type(rows[0]))
