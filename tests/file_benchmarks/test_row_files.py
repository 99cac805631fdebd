"""A bad row is a rejection, a file that is cut an error; both are said beside the number."""

import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.file_benchmarks.row_files import read_rows
from tests.workspace.typed import bench, lines

GOOD = {"id": "{n}", "question": "Which?", "options": ["red", "blue"], "answer": "A"}


def faults(folder, name, data):
    (folder / name).write_bytes(data)
    return [row.fault for row in read_rows(folder / name)]


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        pytest.param("a.csv", b"a,b\n1,2\n3\n5,6\n", ["", "1 cells, expected 2", ""], id="short"),
        pytest.param("a.csv", b"a,b\n1,2,3\n5,6\n", ["3 cells, expected 2", ""], id="long"),
        pytest.param("a.csv", b"a,b\n1,\xff\n5,6\n", ["not UTF-8", ""], id="no UTF-8"),
        pytest.param("a.tsv", b"a\tb\n1\n5\t6\n", ["1 cells, expected", ""], id="short TSV"),
        pytest.param("a.csv", b"a,b\n5\" wide,2\n5,6", ["", ""], id="an inch, and no last newline"),
        pytest.param("a.csv", b'a,b\n"x\ny",2\n\n5,6\n', ["", ""], id="a cell of two lines"),
        pytest.param("a.jsonl", b'{"a": 1\n{"a": 2}\n', ["not JSON", ""], id="half a JSON line"),
        pytest.param("a.jsonl", b'[1]\n{"a": 2}', ["not a JSON object", ""], id="a list"),
        pytest.param("a.jsonl", b'{"a": "\xff"}\n{"a": 2}', ["not JSON", ""], id="a byte in JSON"),
        pytest.param("a.json", b'[{"a": 1}, 2, {"a": 3}]', ["", "", "an object"], id="a number"),
        pytest.param("a.json", b'[{"a": 1, "a": 2}, {"a": 3}]', ["", "duplicate"], id="twins"),
    ],
)  # fmt: skip
def test_a_bad_row_is_a_fault_and_the_rows_after_it_are_read(tmp_path, name, data, expected):
    found = faults(tmp_path, name, data)
    assert len(found) == len(expected)
    for why, fault in zip(expected, found, strict=True):
        assert why in fault
        assert bool(why) == bool(fault)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("a.jsonl", b'{"a": 1}\n{"a": ', id="JSON lines"),
        pytest.param("a.jsonl", b'{"a": 1}\n{"a": "\xe6\xb0', id="within a character"),
        pytest.param("a.json", b'[{"a": 1}, {"a"', id="a JSON list"),
        pytest.param("a.csv", b"a,b\n1,2\n3", id="a table after a cell"),
        pytest.param("a.csv", b'a,b\n1,2\n3,"four', id="a table in a quotation"),
        pytest.param("a.csv", b'a,b\n1,2\n3,"four\n5,6\n', id="a quotation without an end"),
        pytest.param("a.tsv", b"a\tb\tc\n1\t2\t3\n3\t4", id="a TSV table"),
        pytest.param("a.parquet", b"PAR1\0\0\0", id="Parquet"),
        pytest.param("a.arrow", b"ARROW1\0\0\1", id="Arrow"),
    ],
)
def test_a_file_that_is_cut_in_its_last_row_is_an_error(tmp_path, name, data):
    with pytest.raises(SourceError, match=r"cut short|cannot be read"):
        faults(tmp_path, name, data)


@pytest.mark.long
def test_what_was_left_out_stands_beside_the_number(tmp_path, monkeypatch):
    """24 of 26 rows can be used: on stderr, in the metrics, in the leaderboard."""
    rows = [GOOD | {"id": str(n)} for n in range(26)]
    rows[3] |= {"question": ""}
    rows[7] |= {"id": "6"}
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    (tmp_path / "bench.toml").write_text('[benchmarks.fridge]\nfile = "a.jsonl"\n')
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    result = bench("evaluate", "fridge", "--model", "random", "--json")
    assert "fridge: 2 rows of the source rejected, the first: " in result.stderr
    assert "a.jsonl, line 4: no question." in result.stderr
    assert {row["n_rejected"] for row in lines(result)} == {2}
    standing = lines(bench("leaderboard", "fridge", "--json"))[0]
    assert standing["n_rejected"] == 2
    assert "24, 2 rejected" in bench("evaluate", "fridge", "--model", "random").stdout
    part = bench("evaluate", "fridge", "--model", "random", "--limit", "3")
    assert "2 rows of the source rejected" in part.stderr
