import json
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from bench_assets.core.schema.errors import SourceError
from bench_assets.file_benchmarks.row_files import data_files, read_rows
from tests.cases import read_cases
from tests.fakes.commands import bench, lines


def read_faults(folder, name, text):
    """Write a file in Latin-1; return the fault of each of its rows, "" for a good row."""
    (folder / name).write_text(text, encoding="latin-1", newline="")
    return [row.fault for row in read_rows(folder / name)]


@pytest.mark.parametrize(("name", "text", "expected"), read_cases(__file__, "bad_rows.jsonl"))
def test_a_bad_row_has_a_fault_and_later_rows_are_read(tmp_path, name, text, expected):
    """Faulty rows of a list in JSON come last."""
    faults = read_faults(tmp_path, name, text)
    assert [bool(fault) for fault in faults] == [bool(message) for message in expected]
    assert all(message in fault for message, fault in zip(expected, faults, strict=True))


@pytest.mark.parametrize(("name", "text"), read_cases(__file__, "cut_files.jsonl"))
def test_a_file_that_is_cut_in_its_last_row_is_an_error(tmp_path, name, text):
    with pytest.raises(SourceError, match=r"cut short|cannot be read"):
        read_faults(tmp_path, name, text)


@pytest.mark.long
def test_rejected_rows_are_counted_beside_the_number(tmp_path, monkeypatch):
    """Of 26 rows, 24 can be used: one has no question, and one has the id of another."""
    row = {"question": "Which?", "options": ["red", "blue"], "answer": "A"}
    usable = [row | {"id": str(n)} for n in range(24)]
    rows = [*usable[:3], row | {"id": "24", "question": ""}, *usable[3:], row | {"id": "6"}]
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    (tmp_path / "bench.toml").write_text('[benchmarks.fridge]\nfile = "a.jsonl"\n')
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")

    result = bench("evaluate", "fridge", "--model", "random", "--json")

    assert "fridge: 2 rows of the source rejected, the first: " in result.stderr
    assert "a.jsonl, line 4: no question." in result.stderr
    assert {row["n_rejected"] for row in lines(result)} == {2}
    standing, *_ = lines(bench("leaderboard", "fridge", "--json"))
    assert standing["n_rejected"] == 2
    assert "24, 2 rejected" in bench("evaluate", "fridge", "--model", "random").stdout
    partial = bench("evaluate", "fridge", "--model", "random", "--limit", "3")
    assert "2 rows of the source rejected" in partial.stderr


ROWS = [{"question": "Is it?", "answer": "yes"}, {"question": "Who,\nthen?", "answer": "I"}]
TABLE = pa.Table.from_pylist(ROWS)


def write_arrow(file, table=TABLE):
    """Write an Arrow stream as ``datasets`` does."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(file), "wb") as out, pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table, max_chunksize=1)


def write_feather(file):
    """Write an Arrow file as pandas does, which is not a stream."""
    file.parent.mkdir()
    feather.write_feather(TABLE, file, compression="lz4", chunksize=1)


def write_saved(folder, table=TABLE):
    """Write a folder as ``Dataset.save_to_disk`` does."""
    write_arrow(folder / "data-00000-of-00001.arrow", table)
    state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")


def write_jsonl(file):
    file.write_text("\n\n".join(map(json.dumps, ROWS)) + "\n", encoding="utf-8-sig")


WRITERS = {  # name of a file or folder -> function that writes ROWS to it
    "a.jsonl": write_jsonl,
    "a.json": lambda file: file.write_text(json.dumps(ROWS)),
    "a.csv": lambda file: file.write_text('question,answer\r\nIs it?,yes\r\n"Who,\nthen?",I\r\n'),
    "a.TSV": lambda file: file.write_text('question\tanswer\nIs it?\tyes\n"Who,\nthen?"\tI\n'),
    "a.parquet": lambda file: pq.write_table(TABLE, file, row_group_size=1),
    "a.arrow": write_arrow,
    "feather/a.arrow": write_feather,
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
def test_the_first_line_is_a_row_if_the_columns_are_named(tmp_path, name, line):
    (tmp_path / name).write_text(line + "\n")
    (row,) = read_rows(tmp_path / name, header=("question", "answer"))
    assert row.where == f"{tmp_path / name}, line 1"
    assert row.cells == {"question": "Is it red?", "answer": "yes"}


def test_rows_by_id_have_it_as_a_column(tmp_path):
    rows = {"7": {"question": "Who?"}, "8": {"id": "own", "question": "Which?"}, "9": "none"}
    (tmp_path / "a.json").write_text(json.dumps(rows, indent=1))
    who, which, bad = read_rows(tmp_path / "a.json")
    assert who.cells == {"id": "7", "question": "Who?"}
    assert which.cells["id"] == "own"
    assert bad.fault == "expected an object, found 'none'"


def test_the_one_list_of_an_object_holds_the_rows(tmp_path):
    """VQA's questions stand beside its licence and its version."""
    rows = [{"question": "Who?"}, {"question": "Which?"}, {"question": "Where?"}]
    file = {"info": {"year": 2017}, "license": {"name": "CC"}, "task": "open", "questions": rows}
    (tmp_path / "a.json").write_text(json.dumps(file, indent=1))
    questions = list(read_rows(tmp_path / "a.json"))
    assert [row.cells for row in questions if not row.fault] == rows
    assert questions[0].where == f"{tmp_path}/a.json, questions, entry 1"


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.parquet"])
def test_a_pointer_of_git_lfs_is_refused(tmp_path, name):
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


@pytest.fixture
def image_folder(tmp_path):
    """A folder of two splits, each with a file of metadata beside its images."""
    for split in ("train", "test"):
        (tmp_path / split).mkdir()
        row = {"file_name": "1.png", "masks_file_names": ["2.png"], "question": split}
        (tmp_path / split / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    return tmp_path


def test_images_of_an_image_folder_are_named_below_their_split(image_folder):
    (row,) = read_rows(image_folder, "test")
    assert row.cells == {"image": "test/1.png", "masks": ["test/2.png"], "question": "test"}


@pytest.mark.parametrize(
    ("name", "positions"),
    [
        pytest.param("a.jsonl", ["line 1", "line 3"], id="lines, blank ones counted"),
        pytest.param("a.csv", ["line 2", "line 3"], id="the first line of a row of several"),
        pytest.param("a.parquet", ["row 1", "row 2"], id="rows"),
    ],
)
def test_a_row_has_its_position_in_the_file(tmp_path, name, positions):
    file = tmp_path / name
    WRITERS[name](file)
    expected = [f"{file}, {position}" for position in positions]
    assert [row.where for row in read_rows(file)] == expected


TWINS = pa.Table.from_arrays([pa.array(["A"]), pa.array(["B"])], ["answer", "answer"])


def test_a_file_with_two_columns_of_one_name_is_refused(tmp_path):
    pq.write_table(TWINS, tmp_path / "a.parquet")
    write_arrow(tmp_path / "a.arrow", TWINS)
    for name in ("a.parquet", "a.arrow"):
        with pytest.raises(SourceError, match=rf"{name}: duplicate column 'answer'"):
            list(read_rows(tmp_path / name))


def test_class_labels_are_read_as_the_names_of_the_classes(tmp_path):
    """``datasets`` writes the names into the metadata of the schema."""
    metadata = {"info": {"features": {"answer": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}
    table = pa.table({"answer": [1, 0, None]})
    with_classes = table.replace_schema_metadata({"huggingface": json.dumps(metadata)})
    pq.write_table(with_classes, tmp_path / "a.parquet")
    rows = read_rows(tmp_path / "a.parquet")
    assert [row.cells["answer"] for row in rows] == ["dog", "cat", None]


@pytest.mark.parametrize(
    "metadata",
    [
        "{",
        "[]",
        '{"info": []}',
        '{"info": {"features": {"a": {"_type": "ClassLabel", "names": 7}}}}',
    ],
    ids=["no JSON", "a list", "info that is a list", "names that are a number"],
)
def test_rows_are_read_in_spite_of_invalid_metadata(tmp_path, metadata):
    table = pa.table({"a": ["x"]}).replace_schema_metadata({"huggingface": metadata})
    pq.write_table(table, tmp_path / "a.parquet")
    assert [row.cells for row in read_rows(tmp_path / "a.parquet")] == [{"a": "x"}]


@pytest.mark.parametrize(("files", "split", "expected"), read_cases(__file__, "split_files.jsonl"))
def test_the_files_of_a_split_are_found(tmp_path, files, split, expected):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert data_files(tmp_path, split) == [tmp_path / name for name in expected]


@pytest.fixture
def saved_splits(tmp_path):
    """A folder as ``DatasetDict.save_to_disk`` writes it, of which "test" has one row."""
    write_saved(tmp_path / "test", TABLE.slice(0, 1))
    write_saved(tmp_path / "train")
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["test", "train"]}')
    return tmp_path


def test_a_saved_split_is_read_alone(saved_splits):
    assert [row.cells for row in read_rows(saved_splits, "train")] == ROWS


@pytest.mark.parametrize(
    ("split", "expected_message"),
    [
        pytest.param("", "has the splits test, train; name one of them", id="none"),
        pytest.param("val", "has the splits test, train; 'val' is none of them", id="unknown"),
    ],
)
def test_a_saved_split_has_to_be_named(saved_splits, split, expected_message):
    with pytest.raises(SourceError, match=expected_message):
        data_files(saved_splits, split)


@pytest.mark.parametrize(
    ("name", "text", "expected_message"),
    [
        *read_cases(__file__, "unreadable_files.jsonl"),
        pytest.param("a.csv", "q,fr\xe9\n1,2\n", "line 1: not UTF-8: 'fr", id="a name in Latin-1"),
        pytest.param("a.csv", "\xff\xfeq\0,\0a\0\n\0", "line 1: not UTF-8", id="UTF-16"),
        pytest.param("a.json", '[\n{"q": "\xe9"}]', "line 2: not UTF-8", id="JSON in Latin-1"),
        pytest.param("saved/state.json", "[" * 200_000, "nested too deeply", id="brackets"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path, name, text, expected_message):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="latin-1")
    file_or_folder, _, _ = name.partition("/")
    with pytest.raises(SourceError, match=expected_message) as error:
        list(read_rows(tmp_path / file_or_folder))
    assert str(file) in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "expected_message"),
    [
        pytest.param("README.md", "", "holds no .jsonl", id="without rows"),
        pytest.param(
            "state.json",
            '{"_indices_data_files": [{"filename": "indices.arrow"}]}',
            r"Save it after flatten_indices\(\)",
            id="a selection of the rows of another folder",
        ),
    ],
)
def test_an_unreadable_folder_is_named(tmp_path, name, text, expected_message):
    folder = tmp_path / "saved"
    folder.mkdir()
    (folder / name).write_text(text)
    with pytest.raises(SourceError, match=f"^{folder}: .*{expected_message}"):
        list(read_rows(folder))


def test_a_text_that_reaches_beyond_the_arrow_file_is_refused(tmp_path):
    """The file is memory-mapped: reading such a text would crash the process."""
    text = b"x" * 40
    write_arrow(tmp_path / "a.arrow", pa.table({"question": [text.decode()]}))
    data = bytearray((tmp_path / "a.arrow").read_bytes())
    offsets = data.rindex(text) - 8  # where the text starts and ends: 0 and 40, of 4 bytes each
    assert data[offsets : offsets + 8] == struct.pack("<II", 0, 40)
    struct.pack_into("<II", data, offsets, 0, 1 << 30)
    (tmp_path / "a.arrow").write_bytes(data)
    with pytest.raises(SourceError, match=r"a\.arrow: cannot be read as Arrow"):
        list(read_rows(tmp_path / "a.arrow"))


def test_a_date_beyond_the_range_of_python_is_a_fault_of_its_row(tmp_path):
    days = pa.array([0, 2**60], pa.timestamp("us"))
    pq.write_table(pa.table({"day": days, "answer": ["A", "B"]}), tmp_path / "a.parquet")
    first, second = read_rows(tmp_path / "a.parquet")
    assert (first.cells["answer"], first.fault) == ("A", "")
    assert second.fault.startswith("cannot be read: ")
    assert second.where.endswith("row 2")
