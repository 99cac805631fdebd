"""A bad row is a rejection, a file that is cut an error; both are said beside the number."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from bench_assets.core.schema.errors import SourceError
from bench_assets.file_benchmarks.row_files import data_files, read_rows
from tests.cases import read_cases
from tests.fakes.commands import bench, lines

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
        pytest.param("a.csv", b"a,b\n5\" wide,2\n5,6", ["", ""], id="an inch, and no last newline"),
        pytest.param("a.csv", b'a,b\n"x\ny",2\n\n5,6\n', ["", ""], id="a cell of two lines"),
        pytest.param("a.jsonl", b'{"a": 1\n{"a": 2}\n', ["not JSON", ""], id="half a JSON line"),
        pytest.param("a.jsonl", b'{"a": "\xff"}\n{"a": 2}', ["not JSON", ""], id="a byte in JSON"),
        pytest.param("a.json", b'[{"a": 1}, 2, {"a": 3}]', ["", "", "an object"], id="a number"),
        pytest.param("a.json", b'[{"a": 1, "a": 2}, {"a": 3}]', ["", "duplicate"], id="twins"),
    ],
)  # fmt: skip
def test_a_bad_row_is_a_fault_and_the_rows_after_it_are_read(tmp_path, name, data, expected):
    reasons = faults(tmp_path, name, data)
    assert len(reasons) == len(expected)
    for why, fault in zip(expected, reasons, strict=True):
        assert why in fault
        assert bool(why) == bool(fault)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        pytest.param("a.jsonl", b'{"a": 1}\n{"a": ', id="JSON lines"),
        pytest.param("a.json", b'[{"a": 1}, {"a"', id="a JSON list"),
        pytest.param("a.csv", b"a,b\n1,2\n3", id="a table after a cell"),
        pytest.param("a.csv", b'a,b\n1,2\n3,"four', id="a table in a quotation"),
        pytest.param("a.csv", b'a,b\n1,2\n3,"four\n5,6\n', id="a quotation without an end"),
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


ROWS = [{"question": "Is it?", "answer": "yes"}, {"question": "Who,\nthen?", "answer": "I"}]
TABLE = pa.Table.from_pylist(ROWS)


def write_arrow(file, table=TABLE):
    file.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(file), "wb") as out, pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table, max_chunksize=1)


def write_feather(file):
    """As ``pyarrow.feather`` and pandas do: a file, which is no stream."""
    file.parent.mkdir()
    feather.write_feather(TABLE, file, compression="lz4", chunksize=1)


def write_saved(folder, table=TABLE):
    """As ``Dataset.save_to_disk`` does."""
    write_arrow(folder / "data-00000-of-00001.arrow", table)
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")


def write_jsonl(file):
    file.write_text("\n\n".join(map(json.dumps, ROWS)) + "\n", encoding="utf-8-sig")


WRITERS = {
    "a.jsonl": write_jsonl,
    "a.json": lambda file: file.write_text(json.dumps(ROWS)),
    "a.csv": lambda file: file.write_text('question,answer\r\nIs it?,yes\r\n"Who,\nthen?",I\r\n'),
    "a.TSV": lambda file: file.write_text('question\tanswer\nIs it?\tyes\n"Who,\nthen?"\tI\n'),
    "a.parquet": lambda file: pq.write_table(TABLE, file, row_group_size=1),
    "a.arrow": write_arrow,
    "whole/a.arrow": write_feather,
    "saved": write_saved,
    "lines.json": lambda file: file.write_text("\n".join(map(json.dumps, ROWS)) + "\n"),
    "one list.json": lambda file: file.write_text(json.dumps({"version": "1", "data": ROWS})),
}


@pytest.mark.parametrize("name", WRITERS)
def test_rows_are_read_in_order(tmp_path, name):
    WRITERS[name](tmp_path / name)
    assert [row.cells for row in read_rows(tmp_path / name)] == ROWS


@pytest.mark.parametrize(
    ("name", "line"), [("a.csv", "Is it red?,yes"), ("a.tsv", "Is it red?\tyes")]
)
def test_the_first_line_of_a_table_whose_columns_are_named_is_a_row(tmp_path, name, line):
    (tmp_path / name).write_text(line + "\n")
    (row,) = read_rows(tmp_path / name, header=("question", "answer"))
    assert (row.where, row.cells) == (
        f"{tmp_path / name}, line 1",
        {"question": "Is it red?", "answer": "yes"},
    )


def test_rows_by_id_have_it_as_a_column(tmp_path):
    rows = {"7": {"question": "Who?"}, "8": {"id": "own", "question": "Which?"}, "9": "none"}
    (tmp_path / "a.json").write_text(json.dumps(rows, indent=1))
    who, which, bad = read_rows(tmp_path / "a.json")
    assert who.cells == {"id": "7", "question": "Who?"}
    assert which.cells["id"] == "own"
    assert bad.fault == "expected an object, found 'none'"


def test_a_list_beside_objects_about_it_are_the_rows(tmp_path):
    """VQA's questions stand beside its licence and its version."""
    rows = [{"question": "Who?"}, {"question": "Which?"}, {"question": "Where?"}]
    file = {"info": {"year": 2017}, "license": {"name": "CC"}, "task": "open", "questions": rows}
    (tmp_path / "a.json").write_text(json.dumps(file, indent=1))
    read = list(read_rows(tmp_path / "a.json"))
    assert [row.cells for row in read if not row.fault] == rows
    assert read[0].where == f"{tmp_path}/a.json, questions, entry 1"


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.parquet"])
def test_a_pointer_of_git_lfs_is_named(tmp_path, name):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 7\n"
    (tmp_path / name).write_text(pointer)
    with pytest.raises(SourceError, match=rf"{name}: a pointer of Git LFS"):
        list(read_rows(tmp_path / name))


def test_answers_by_id_are_rows(tmp_path):
    (tmp_path / "keys.json").write_text('{"7": "B", "8": ["a", "b"]}')
    assert [row.cells for row in read_rows(tmp_path / "keys.json")] == [
        {"id": "7", "answer": "B"},
        {"id": "8", "answer": ["a", "b"]},
    ]


def test_an_image_folder_names_its_images_beside_each_metadata_file(tmp_path):
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
        entry = {"file_name": "1.png", "masks_file_names": ["2.png"], "question": split}
        (tmp_path / split / "metadata.jsonl").write_text(json.dumps(entry) + "\n")
    (row,) = read_rows(tmp_path, "test")
    assert row.cells == {"image": "test/1.png", "masks": ["test/2.png"], "question": "test"}


@pytest.mark.parametrize(
    ("name", "places"),
    [
        pytest.param("a.jsonl", ["line 1", "line 3"], id="lines, blank ones counted"),
        pytest.param("a.csv", ["line 2", "line 3"], id="the first line of a row of several"),
        pytest.param("a.parquet", ["row 1", "row 2"], id="rows"),
    ],
)
def test_a_row_says_where_it_stands(tmp_path, name, places):
    WRITERS[name](tmp_path / name)
    found = [row.where for row in read_rows(tmp_path / name)]
    assert found == [f"{tmp_path / name}, {place}" for place in places]


def test_columns_of_one_name_are_refused_in_other_tables_too(tmp_path):
    table = pa.Table.from_arrays([pa.array(["A"]), pa.array(["B"])], ["answer", "answer"])
    pq.write_table(table, tmp_path / "a.parquet")
    write_arrow(tmp_path / "a.arrow", table)
    for name in ("a.parquet", "a.arrow"):
        with pytest.raises(SourceError, match=rf"{name}: duplicate column 'answer'"):
            list(read_rows(tmp_path / name))


def test_numbers_that_stand_for_classes_are_named(tmp_path):
    """The schema's metadata are those that ``datasets`` writes."""
    about = {"info": {"features": {"answer": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}
    table = pa.table({"answer": [1, 0, None]})
    stored = table.replace_schema_metadata({"huggingface": json.dumps(about)})
    pq.write_table(stored, tmp_path / "a.parquet")
    rows = read_rows(tmp_path / "a.parquet")
    assert [row.cells["answer"] for row in rows] == ["dog", "cat", None]


@pytest.mark.parametrize(
    "about",
    [
        "{",
        "[]",
        '{"info": []}',
        '{"info": {"features": {"a": {"_type": "ClassLabel", "names": 7}}}}',
    ],
)
def test_rows_are_read_whatever_the_metadata_say(tmp_path, about):
    table = pa.table({"a": ["x"]}).replace_schema_metadata({"huggingface": about})
    pq.write_table(table, tmp_path / "a.parquet")
    assert [row.cells for row in read_rows(tmp_path / "a.parquet")] == [{"a": "x"}]


@pytest.mark.parametrize(("files", "split", "found"), read_cases(__file__, "split_files.jsonl"))
def test_the_files_of_a_split_are_found(tmp_path, files, split, found):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert data_files(tmp_path, split) == [tmp_path / name for name in found]


def test_splits_that_were_saved_together_are_kept_apart(tmp_path):
    for split in ("test", "train"):
        write_saved(tmp_path / split)
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["test", "train"]}')
    assert [row.cells for row in read_rows(tmp_path, "train")] == ROWS
    with pytest.raises(SourceError, match="has the splits test, train; name one of them"):
        data_files(tmp_path)
    with pytest.raises(SourceError, match="has the splits test, train; 'val' is none of them"):
        data_files(tmp_path, "val")


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        *read_cases(__file__, "unreadable_files.jsonl"),
        pytest.param("a.csv", b"q,fr\xe9\n1,2\n", "line 1: not UTF-8: 'fr", id="a name in Latin-1"),
        pytest.param("a.csv", "q,a\n1,2\n".encode("utf-16"), "line 1: not UTF-8", id="UTF-16"),
        pytest.param("a.json", b'[\n{"q": "\xe9"}]', "line 2: not UTF-8", id="JSON in Latin-1"),
        pytest.param("saved/state.json", b"[" * 200_000, "nested too deeply", id="brackets"),
    ],
)
def test_what_cannot_be_read_names_the_file(tmp_path, name, data, why):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(SourceError, match=why) as error:
        list(read_rows(file if file.parent == tmp_path else file.parent))
    assert str(tmp_path) in str(error.value)


def test_texts_that_end_elsewhere_are_refused_before_they_are_read(tmp_path):
    """They crash the process: what lies in a file that is mapped is taken as it is."""
    write_arrow(tmp_path / "a.arrow", pa.table({"question": ["x" * 40]}))
    data = (tmp_path / "a.arrow").read_bytes()
    ends, far = (n.to_bytes(4, "little") for n in (40, 1 << 30))
    at = data.rindex(b"x" * 40) - 8  # the offsets of the one text: 0 and 40
    assert data[at : at + 8] == bytes(4) + ends
    (tmp_path / "a.arrow").write_bytes(data[: at + 4] + far + data[at + 8 :])
    with pytest.raises(SourceError, match=r"a\.arrow: cannot be read as Arrow"):
        list(read_rows(tmp_path / "a.arrow"))


def test_a_row_that_python_cannot_hold_is_that_rows_fault(tmp_path):
    days = pa.array([0, 2**60], pa.timestamp("us"))
    pq.write_table(pa.table({"day": days, "answer": ["A", "B"]}), tmp_path / "a.parquet")
    first, second = read_rows(tmp_path / "a.parquet")
    assert (first.cells["answer"], first.fault) == ("A", "")
    assert second.fault.startswith("cannot be read: ")
    assert second.where.endswith("row 2")
