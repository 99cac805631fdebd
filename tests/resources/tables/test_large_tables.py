"""Tables of more than a block: written and read block by block, the same table as of a list."""

import pytest

from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.arrow import digest
from bench_assets.core.tables.large_tables import BLOCK_ROWS, LargeTable, collect_rows
from bench_resources.tables.parquet import TableFiles

KEY = ["t", "rejections"]
ROWS = [Rejection(entry=f"line {n}", reason="empty") for n in range(BLOCK_ROWS + 2)]


@pytest.mark.parametrize(
    "hold", [list, lambda rows: collect_rows(rows, Rejection)], ids=["a list", "packed"]
)
def test_a_large_table_is_the_same_however_it_is_written_and_read(tmp_path, hold):
    tables = TableFiles(folder=str(tmp_path))
    tables.write(KEY, hold(iter(ROWS)), Rejection)
    found = tables.rows(KEY, Rejection)
    assert isinstance(found, LargeTable)
    assert found.blocks.sizes == [BLOCK_ROWS, 2]
    assert found == ROWS
    assert tables.read(KEY, Rejection) == ROWS
    assert tables.digest(KEY) == digest(found) == digest(ROWS)
    assert tables.verify(KEY)


def test_a_table_of_a_block_is_a_list(tmp_path):
    tables = TableFiles(folder=str(tmp_path))
    tables.write(KEY, ROWS[:BLOCK_ROWS], Rejection)
    found = tables.rows(KEY, Rejection)
    assert isinstance(found, list)
    assert found == ROWS[:BLOCK_ROWS]
