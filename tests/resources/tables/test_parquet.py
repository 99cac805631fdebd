"""Tables on disk: whole or not at all."""

import os
import time
from pathlib import Path

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Prediction, Rejection
from bench_assets.core.tables.arrow import digest, to_rows
from bench_resources.tables.file_bytes import write_groups
from bench_resources.tables.parquet import TableFiles, TableIOManager, read_by_question
from tests.fakes.rows import prediction

KEY = ["suite", "table"]
ROWS = [Rejection(entry="a", reason="b"), Rejection(entry="c", reason="d")]


@pytest.fixture
def files(tmp_path):
    return TableFiles(folder=str(tmp_path))


def test_a_table_is_read_question_by_question(files):
    named = ["d", "b", "unknown", "a", "b", "e"]
    rows = [prediction(question_id=name, sample=n) for n, name in enumerate(named)]
    files.write(KEY, rows, Prediction)
    ids = pa.array(["a", "b", "c", "d", "e"])
    batches = read_by_question(files, KEY, Prediction, "", ("sample", "served"), ids, 2)
    assert [batch["sample"] for batch in batches] == [[3, 1, 4], [0], [5]]


def test_rows_of_several_row_groups_are_read_in_order(files):
    rows = [Rejection(entry=f"line {n}", reason="empty") for n in range(2 * 8192 + 1)]
    path = files.write(KEY, rows, Rejection)
    assert pq.read_metadata(path).num_row_groups == 3
    assert files.read(KEY, Rejection) == rows


def test_what_was_written_is_read_and_known_by_its_content(files):
    files.write(KEY, ROWS, Rejection)
    assert files.read(KEY, Rejection) == ROWS
    assert files.digest(KEY) == digest(ROWS)


@pytest.mark.parametrize("model", ["m", "run/step-100", "a@0f", "Ünïcode 1", ".."])
def test_a_partition_has_one_file_of_its_own_inside_the_folder(files, tmp_path, model):
    path = Path(files.write(KEY, ROWS[:1], Rejection, model))
    files.write(KEY, ROWS, Rejection)
    assert path.parent == tmp_path / "suite" / "table"
    assert files.read(KEY, Rejection, model) == ROWS[:1]
    assert model in files.partitions(KEY)


def test_a_write_that_fails_leaves_the_earlier_table(files):
    files.write(KEY, ROWS, Rejection)
    with pytest.raises(TableError, match="Rejection table"):
        files.write(KEY, [Rejection(entry="a", reason=7)], Rejection)
    assert files.read(KEY, Rejection) == ROWS


@pytest.mark.parametrize(
    ("spoil", "complaint"),
    [
        pytest.param(
            lambda path: path.unlink(), "no table yet.*`bench tables questions ", id="none"
        ),
        pytest.param(lambda path: path.write_bytes(b"PAR1"), "materialize it again", id="torn"),
    ],
)
def test_a_table_that_cannot_be_read_says_what_to_do(files, spoil, complaint):
    spoil(Path(files.write(KEY, ROWS, Rejection)))
    with pytest.raises(TableError, match=complaint):
        files.read(KEY, Rejection)


@pytest.mark.parametrize(
    ("key", "model", "command"),
    [
        (["codis", "questions"], "", "`bench tables questions codis` makes those of questions"),
        (["codis", "predictions"], "", "`bench evaluate codis --model MODEL` makes it"),
        (["codis", "predictions"], "a b", "`bench evaluate codis --model 'a b'` makes it"),
        (["codis", "annotation", "verdicts_units"], "", "`bench annotate ask` makes it"),
    ],
)
def test_a_table_that_was_never_made_names_the_command_that_makes_it(files, key, model, command):
    with pytest.raises(TableError, match=f"no table yet.*{command}"):
        files.read(key, Rejection, model)


@pytest.mark.parametrize(
    ("key", "command"),
    [
        (["codis", "plain", "scores"], "codis --model m --condition plain"),
        (["cogbench", "vqa", "blind", "scores"], "cogbench/vqa --model m --condition blind"),
        (["cogbench", "vqa", "scores"], "cogbench --model m"),
    ],
)
def test_a_table_of_a_condition_is_made_under_that_condition(files, key, command):
    for task in (["codis"], ["cogbench", "vqa"]):
        files.write([*task, "questions"], ROWS, Rejection)
    with pytest.raises(TableError, match=f"`bench evaluate {command}` makes it"):
        files.read(key, Rejection, "m")


def test_a_query_over_tables_that_do_not_exist_finds_nothing(files):
    found = files.query(
        "SELECT * FROM metrics WHERE task = $t", {"metrics": ([KEY], Metric)}, t="x"
    )
    assert found.num_rows == 0


def test_a_query_reads_tables_older_than_a_column_beside_newer_ones(files):
    rows = [prediction(no_answer="no answer in 8 tokens")]
    older = files.write(KEY, [prediction(model="n")], Prediction, "n")
    table = pq.read_table(older).drop_columns(["no_answer"])
    with Path(older).open("w+b") as out:
        write_groups([table], table.schema, out)
    view = {"p": ([KEY], Prediction)}
    assert to_rows(files.query("SELECT * FROM p", view), Prediction) == [prediction(model="n")]
    files.write(KEY, rows, Prediction, "m")
    found = to_rows(files.query("SELECT * FROM p ORDER BY model", view), Prediction)
    assert [row.no_answer or "" for row in found] == ["no answer in 8 tokens", ""]


def test_a_query_reads_every_partition(files):
    for model in ("m", "n"):
        files.write(KEY, ROWS, Rejection, model)
    found = files.query("SELECT count(*) AS n FROM r", {"r": ([KEY], Rejection)})
    assert found.to_pylist() == [{"n": 4}]


def test_a_table_says_itself_when_it_was_written_whatever_becomes_of_its_file(files):
    before = time.time()
    path = Path(files.write(KEY, ROWS, Rejection))
    after = time.time()
    os.utime(path, (7, 7))
    assert before - 1e-6 <= files.written(KEY) <= after + 1e-6
    path.write_bytes(b"torn")
    assert files.written(KEY) == files.written(KEY, "absent") == 0


def test_the_steps_of_a_run_read_a_table_once_until_it_is_written_again(files):
    manager = TableIOManager(files=files)
    rows = dg.DagsterType(lambda _, value: True, "Rejections", typing_type=list[Rejection])
    context = dg.build_input_context(asset_key=dg.AssetKey(KEY), dagster_type=rows)
    files.write(KEY, ROWS, Rejection)
    first = manager.load_input(context)
    assert first == ROWS
    assert manager.load_input(context) is first
    files.write(KEY, ROWS[:1], Rejection)
    assert manager.load_input(context) == ROWS[:1]
