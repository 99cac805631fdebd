"""Tables that are large because their blocks are small."""

from collections.abc import Sequence
from typing import Any

from bench_assets.core.large_tables import LargeTable, Packed
from bench_assets.core.tables import to_table


def packed(rows: Sequence[Any], size: int = 3) -> LargeTable[Any]:
    """The same rows in blocks of three."""
    blocks = Packed()
    for start in range(0, len(rows), size):
        blocks.add(to_table(rows[start : start + size], type(rows[0])))
    return LargeTable(blocks, type(rows[0]))
