"""Tables that other programs wrote: which fit a row type, and what is said of those that do not."""

from dataclasses import dataclass

import pyarrow as pa
import pytest

from bench_assets.core.schema.errors import TableError
from bench_assets.core.tables.arrow import to_rows, to_table


@dataclass(frozen=True)
class Thing:
    name: str
    n: int | None
    share: float
    right: bool
    names: tuple[str, ...]


RIGHT = {"name": ["a", "b"], "n": [1, None], "share": [0.5, 1.0], "right": [True, False],
         "names": [["x"], []]}  # fmt: skip
ROWS = [Thing("a", 1, 0.5, True, ("x",)), Thing("b", None, 1.0, False, ())]


def with_column(name, values):
    return pa.table(RIGHT | {name: values})


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param("n", pa.int32(), id="narrower whole numbers"),
        pytest.param("share", pa.float32(), id="narrower fractions"),
        pytest.param("names", pa.list_(pa.string()), id="lists of texts"),
    ],
)
def test_types_of_one_kind_fit(name, kind):
    assert to_rows(with_column(name, pa.array(RIGHT[name], kind)), Thing) == ROWS


@pytest.mark.parametrize(
    ("name", "values"),
    [
        pytest.param("name", [1, 2], id="numbers for texts"),
        pytest.param("n", ["1", "2"], id="texts for numbers"),
        pytest.param("n", [1.0, 2.0], id="fractions for whole numbers"),
        pytest.param("share", [1, 2], id="whole numbers for fractions"),
        pytest.param("right", [1, 0], id="numbers for yes and no"),
        pytest.param("names", ["x", "y"], id="texts for lists"),
        pytest.param("names", [[1], [2]], id="lists of numbers for lists of texts"),
    ],
)
def test_a_column_of_another_type_is_named_with_both(name, values):
    with pytest.raises(
        TableError, match=f"column {name} is .*, not .*: written by another version"
    ):
        to_rows(with_column(name, values), Thing)


def test_rows_that_lack_what_every_row_has_are_counted():
    with pytest.raises(TableError, match="Thing table: 1 rows have no value in column name"):
        to_rows(with_column("name", ["a", None]), Thing)


def test_a_column_that_is_there_twice_is_refused():
    columns = [*map(pa.array, RIGHT.values()), pa.array(["a", "b"])]
    with pytest.raises(TableError, match=r"differs in \['name'\]"):
        to_rows(pa.table(columns, names=[*RIGHT, "name"]), Thing)


def test_a_value_of_another_type_is_told_with_its_column():
    with pytest.raises(TableError, match=r"^Thing table: column name: "):
        to_table([Thing(3, 1, 0.5, True, ())], Thing)
