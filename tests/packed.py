"""Tables that are large because their blocks are small."""

from collections.abc import Sequence
from typing import Any

from bench_assets.core.tables.arrow import arrow_schema, to_table
from bench_assets.core.tables.large_tables import BlockWriter, LargeTable


def packed(rows: Sequence[Any], size: int = 3) -> LargeTable[Any]:
    """The same rows in blocks of three."""
    writer = BlockWriter(arrow_schema(type(rows[0])))
    for start in range(0, len(rows), size):
        writer.add(to_table(rows[start : start + size], type(rows[0])))
    return LargeTable(writer.blocks(), type(rows[0]))
