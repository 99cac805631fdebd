"""Rows that are made when they are looked at are the rows that were put in."""

import pyarrow.parquet as pq
import pytest

from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.tables.arrow import digest, to_table
from bench_assets.core.tables.large_tables import (
    BLOCK_ROWS,
    Blocks,
    LargeTable,
    are_distinct,
    collect_rows,
    column,
    rows_at,
    select_rows,
)
from tests.packed import packed
from tests.rows import prediction, question

ROWS = [
    question(question_id=f"t/{n}", labels={"n": str(n)}, answer=("a", str(n))) for n in range(8)
]


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(list, id="one after the other"),
        pytest.param(len, id="how many"),
        pytest.param(lambda rows: [rows[n] for n in (0, 5, 2, -1)], id="by their places"),
        pytest.param(lambda rows: rows[1:7:2], id="every other one"),
        pytest.param(lambda rows: rows[::-1], id="from the end"),
        pytest.param(lambda rows: list(rows_at(rows, [0, 0, 1, 6, 7, 2])), id="some, also twice"),
        pytest.param(lambda rows: list(column(rows, "labels")), id="a column of mappings"),
        pytest.param(lambda rows: list(column(rows, "answer")), id="a column of tuples"),
        pytest.param(digest, id="their digest"),
        pytest.param(bool, id="whether there is any"),
    ],
)
def test_a_large_table_looks_like_the_list_of_its_rows(look):
    assert look(packed(ROWS)) == look(ROWS)


def test_a_place_behind_the_last_row_has_none():
    with pytest.raises(IndexError):
        packed(ROWS)[8]


def test_a_large_table_is_equal_to_the_same_rows_only():
    assert packed(ROWS) == ROWS
    assert packed(ROWS) == packed(ROWS, 5)
    assert packed(ROWS) != ROWS[:-1]
    assert packed(ROWS) != [*ROWS[:-1], ROWS[0]]


@pytest.mark.parametrize("order", [[7, 0, 3], [0, 1, 2, 3, 4, 5, 6, 7], [5, 5, 4, 4, 0]])
def test_rows_are_brought_into_any_order(order):
    assert select_rows(packed(ROWS), order) == select_rows(ROWS, order) == [ROWS[n] for n in order]


def test_few_rows_are_a_list_and_more_are_packed_with_the_digest_that_they_came_with():
    """A point written as 1 and read as 1.0 has two digests: the first is that of the table."""
    few = [Score.of(prediction(), points=1) for _ in range(3)]
    assert collect_rows(iter(few), Score) == few
    assert isinstance(collect_rows(iter(few), Score), list)
    many = collect_rows((few[0] for _ in range(BLOCK_ROWS + 1)), Score)
    assert isinstance(many, LargeTable)
    assert (len(many), many.blocks.sizes) == (BLOCK_ROWS + 1, [BLOCK_ROWS, 1])
    assert digest(many) == digest(few[:1] * (BLOCK_ROWS + 1))


def test_a_column_that_a_table_is_too_old_for_has_its_default(tmp_path):
    pq.write_table(to_table(ROWS, Question).drop_columns(["context"]), tmp_path / "t.parquet")
    older = LargeTable(Blocks(tmp_path / "t.parquet"), Question)
    assert list(column(older, "context")) == [""] * 8
    assert older == ROWS


def test_a_file_in_one_large_block_is_packed_in_smaller_ones(tmp_path):
    pq.write_table(to_table(ROWS, Question), tmp_path / "t.parquet")
    blocks = Blocks(tmp_path / "t.parquet").split(most=3)
    assert blocks.sizes == [3, 3, 2]
    assert LargeTable(blocks, Question) == ROWS


@pytest.mark.parametrize(
    ("keys", "differ"),
    [(["a", "b"], True), ([("a", 1), ("a", 2)], True), (["a", "b", "a"], False), ([], True)],
)
def test_whether_all_keys_differ(keys, differ):
    assert are_distinct(keys) == differ
