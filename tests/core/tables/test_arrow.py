from dataclasses import dataclass, replace
from hashlib import sha256
from math import nan
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Prediction, Question, Rejection, Score, SourceFile
from bench_assets.core.tables.arrow import arrow_schema, digest, to_json, to_rows, to_table
from tests.fakes.rows import prediction, question


@dataclass(frozen=True)
class ExampleRow:
    name: str
    n: int | None
    share: float
    right: bool
    names: tuple[str, ...]


COLUMNS = {"name": ["a", "b"], "n": [1, None], "share": [0.5, 1.0], "right": [True, False],
           "names": [["x"], []]}  # fmt: skip
ROWS = [
    ExampleRow(name="a", n=1, share=0.5, right=True, names=("x",)),
    ExampleRow(name="b", n=None, share=1.0, right=False, names=()),
]


def table_with_column(name, values):
    """The table of ``ROWS`` with other values in one column."""
    return pa.table(COLUMNS | {name: values})


@pytest.mark.parametrize(
    ("name", "column_type"),
    [
        pytest.param("n", pa.int32(), id="narrower whole numbers"),
        pytest.param("share", pa.float32(), id="narrower fractions"),
        pytest.param("names", pa.list_(pa.string()), id="lists of texts"),
    ],
)
def test_a_narrower_type_fits(name, column_type):
    column = pa.array(COLUMNS[name], column_type)
    assert to_rows(table_with_column(name, column), ExampleRow) == ROWS


@pytest.mark.parametrize(
    ("name", "values", "types"),
    [
        pytest.param("name", [1, 2], "int64, not string", id="numbers for texts"),
        pytest.param("n", [1.0, 2.0], "double, not int64", id="fractions for whole numbers"),
        pytest.param("right", [1, 0], "int64, not bool", id="numbers for yes and no"),
        pytest.param("names", ["x", "y"], "string, not list<", id="texts for lists"),
        pytest.param(
            "names", [[1], [2]], "list<.*int64>, not list<.*string>", id="lists of numbers"
        ),
    ],
)
def test_a_column_of_another_type_is_named_with_both_types(name, values, types):
    with pytest.raises(TableError, match=f"column {name} is {types}"):
        to_rows(table_with_column(name, values), ExampleRow)


def test_rows_without_a_required_value_are_counted():
    with pytest.raises(TableError, match="ExampleRow table: 1 rows have no value in column name"):
        to_rows(table_with_column("name", ["a", None]), ExampleRow)


def test_a_duplicate_column_is_refused():
    columns = [*map(pa.array, COLUMNS.values()), pa.array(["a", "b"])]
    with pytest.raises(TableError, match=r"differs in \['name'\]"):
        to_rows(pa.table(columns, names=[*COLUMNS, "name"]), ExampleRow)


def test_a_value_of_another_type_is_reported_with_its_column():
    number: Any = 3
    with pytest.raises(TableError, match=r"^ExampleRow table: column name: "):
        to_table([replace(ROWS[0], name=number)], ExampleRow)


TEXT = st.text(st.characters(codec="utf-8"))
QUESTIONS = st.builds(
    Question,
    question_id=TEXT,
    task=TEXT,
    edition=TEXT,
    kind=st.sampled_from(["choice", "choices", "blanks", "text", "ranking"]),
    text=TEXT,
    answer=st.lists(TEXT).map(tuple),
    options=st.lists(TEXT).map(tuple),
    labels=st.dictionaries(TEXT, TEXT),
)


@settings(max_examples=30)
@given(st.lists(QUESTIONS, max_size=4))
def test_rows_are_the_same_after_parquet(rows):
    sink = pa.BufferOutputStream()
    pq.write_table(to_table(rows, Question), sink)
    assert to_rows(pq.read_table(pa.BufferReader(sink.getvalue())), Question) == rows


def test_missing_values_stay_missing_and_zeros_stay_zeros():
    rows = [
        prediction(prompt_tokens=None, seconds=None),
        prediction(sample=1, prompt_tokens=0, seconds=0.0),
    ]
    assert to_rows(to_table(rows, Prediction), Prediction) == rows


@pytest.mark.parametrize("row_type", [Question, Prediction, Score, Metric])
def test_a_table_without_rows_has_its_columns(row_type):
    empty = to_table([], row_type)
    assert empty.schema == arrow_schema(row_type)
    assert to_rows(empty, row_type) == []


def test_columns_have_the_types_of_the_fields():
    columns = arrow_schema(Question)
    assert columns.field("text").type == pa.string()
    assert columns.field("answer").type == pa.list_(pa.string())
    assert columns.field("labels").type == pa.map_(pa.string(), pa.string())
    assert arrow_schema(Score).field("points").type == pa.float64()


@pytest.mark.parametrize(
    ("change", "columns"),
    [
        (lambda table: table.drop_columns(["reason"]), "'reason'"),
        (lambda table: table.append_column("reasons", [["x"]]), "'reasons'"),
        (lambda table: table.rename_columns(["entry", "reasons"]), "'reason', 'reasons'"),
    ],
    ids=["a column is missing", "a column too many", "a column was renamed"],
)
def test_a_table_with_other_columns_is_refused_with_their_names(change, columns):
    table = change(to_table([Rejection(entry="e", reason="r")], Rejection))
    with pytest.raises(TableError, match=rf"differs in \[{columns}\]"):
        to_rows(table, Rejection)


def test_a_field_that_an_older_table_lacks_has_its_default():
    rows = [prediction(no_answer="no answer in 8 tokens")]
    older = to_table(rows, Prediction).drop_columns(["no_answer"])
    assert to_rows(older, Prediction) == [prediction()]


def test_a_column_of_nulls_without_a_type_fits():
    """DuckDB writes a column so in which every value is null."""
    rows = [Score(question_id="q", model="m", condition="main", points=None)]
    table = to_table(rows, Score)
    column_index = table.schema.get_field_index("points")
    assert to_rows(table.set_column(column_index, "points", pa.nulls(1)), Score) == rows


def test_a_column_of_empty_lists_without_a_type_fits():
    table = table_with_column("names", pa.array([[], []], pa.list_(pa.null())))
    assert [row.names for row in to_rows(table, ExampleRow)] == [(), ()]


def test_a_number_above_the_signed_64_bits_is_refused():
    with pytest.raises(TableError, match="SourceFile table: column n_bytes"):
        to_table([SourceFile(path="a", sha256="b", n_bytes=2**63)], SourceFile)


def test_json_has_null_where_there_is_no_number():
    row = Score(question_id="q", model="m", condition="main", points=nan)
    assert to_json(row)["points"] is None


def test_different_rows_have_different_digests():
    first, second = question(labels={"a": "1", "b": "2"}), question(question_id="t/2")
    changed = [
        [second, first],
        [first],
        [],
        [replace(first, text="!"), second],
        [replace(first, labels={"a": "2", "b": "1"}), second],
    ]
    assert len({digest([first, second]), *map(digest, changed)}) == 6


def test_a_digest_does_not_depend_on_the_order_of_labels():
    row, reordered_row = (
        question(labels={"a": "1", "b": "2"}),
        question(labels={"b": "2", "a": "1"}),
    )
    assert digest([reordered_row]) == digest([row])


def test_a_digest_is_that_of_the_rows_as_lines_of_json_in_utf_8():
    rows = [Rejection(entry="图 1", reason="?"), Rejection(entry="2", reason="")]
    lines = '{"entry":"图 1","reason":"?"}\n{"entry":"2","reason":""}\n'
    assert digest(rows) == sha256(lines.encode()).hexdigest()
