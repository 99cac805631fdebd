import os
import time
from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import cast

import dagster as dg
import pyarrow.parquet as pq
import pytest

from bench_assets.core.schema.errors import HomeError, TableError
from bench_assets.core.schema.rows import Metric, Prediction, Rejection
from bench_assets.core.tables.arrow import digest, to_rows
from bench_resources.tables.file_bytes import write_groups
from bench_resources.tables.parquet import PART_FIELD, TableFiles, TableIOManager, read_columns
from tests.fakes.object_store import Front
from tests.fakes.rows import prediction
from tests.report.fair import metric

KEY, OTHER = ("suite", "table"), ("suite", "more", "table")
ROWS = [Rejection(entry="a", reason="r"), Rejection(entry="b", reason="s")]
long = pytest.mark.long


@pytest.fixture
def files(tmp_path):
    return TableFiles(folder=str(tmp_path))


@pytest.mark.parametrize("model", ["m", "run/step-100", "a@0f", "Ünïcode 1", ".."])
def test_any_model_name_gives_a_file_in_the_folder_of_the_table(files, tmp_path, model):
    path = Path(files.write(KEY, ROWS[:1], Rejection, model))
    files.write(KEY, ROWS, Rejection)
    assert path.parent == tmp_path / "suite" / "table"
    assert files.read(KEY, Rejection, model) == ROWS[:1]
    assert model in files.partitions(KEY)


def test_a_failed_write_keeps_the_earlier_table(files):
    files.write(KEY, ROWS, Rejection)
    with pytest.raises(TableError, match="Rejection table"):
        files.write(KEY, [Rejection(entry="a", reason=cast("str", 7))], Rejection)
    assert files.read(KEY, Rejection) == ROWS


@pytest.mark.parametrize(
    ("key", "model", "command"),
    [
        (["codis", "questions"], "", "`bench tables questions codis` makes those of questions"),
        (["codis", "predictions"], "", "`bench evaluate codis --model MODEL` makes it"),
        (["codis", "predictions"], "a b", "`bench evaluate codis --model 'a b'` makes it"),
        (["codis", "annotation", "verdicts_units"], "", "`bench annotate ask` makes it"),
    ],
)
def test_a_missing_table_names_the_command_that_makes_it(files, key, model, command):
    with pytest.raises(TableError, match=f"no table yet.*{command}"):
        files.read(key, Rejection, model)


def test_a_query_reads_tables_without_a_later_column(files):
    rows = [prediction(no_answer="no answer in 8 tokens")]
    older_file = files.write(KEY, [prediction(model="n")], Prediction, "n")
    table = pq.read_table(older_file).drop_columns(["no_answer"])
    with Path(older_file).open("w+b") as file:
        write_groups([table], table.schema, file)
    view = {"p": ([KEY], Prediction)}
    assert to_rows(files.query("SELECT * FROM p", view), Prediction) == [prediction(model="n")]
    files.write(KEY, rows, Prediction, "m")
    result = to_rows(files.query("SELECT * FROM p ORDER BY model", view), Prediction)
    assert [row.no_answer or "" for row in result] == ["no answer in 8 tokens", ""]


def test_the_time_of_writing_is_stored_in_the_file(files):
    before = time.time()
    path = Path(files.write(KEY, ROWS, Rejection))
    after = time.time()
    os.utime(path, (7, 7))
    assert before - 1e-6 <= files.written(KEY) <= after + 1e-6
    path.write_bytes(b"torn")
    assert files.written(KEY) == files.written(KEY, "absent") == 0


def test_the_io_manager_reads_a_table_once_until_it_is_written_again(files):
    manager = TableIOManager(files=files)
    rows = dg.DagsterType(lambda _, value: True, "Rejections", typing_type=list[Rejection])
    context = dg.build_input_context(asset_key=dg.AssetKey(KEY), dagster_type=rows)
    files.write(KEY, ROWS, Rejection)
    first = manager.load_input(context)
    assert first == ROWS
    assert manager.load_input(context) is first
    files.write(KEY, ROWS[:1], Rejection)
    assert manager.load_input(context) == ROWS[:1]


def test_a_row_of_no_partition_of_the_run_is_refused(files):
    @dg.asset(
        partitions_def=dg.StaticPartitionsDefinition(["a", "b"]), metadata={PART_FIELD: "entry"}
    )
    def parts() -> list[Rejection]:
        return ROWS  # of the entries "a" and "b"

    with pytest.raises(TableError, match="no partition 'b' for a row's entry"):
        dg.materialize(
            [parts], partition_key="a", resources={"io_manager": TableIOManager(files=files)}
        )


OpenHome = Callable[..., TableFiles]


@pytest.fixture(params=["a folder", pytest.param("a store", marks=long)])
def open_home(request: pytest.FixtureRequest, tmp_path: Path) -> OpenHome:
    shared = {"objects": f"file://{tmp_path}/mnt/team"}
    if request.param == "a store":
        bucket = request.getfixturevalue("bucket")
        shared = {
            "objects": f"{bucket}/team",
            "endpoint": request.getfixturevalue("store_endpoint"),
        }

    def open_tables(name: str = "a", **places: str) -> TableFiles:
        return TableFiles(folder=str(tmp_path / name / "tables"), places=places, **shared)

    return open_tables


def test_a_shared_table_is_read_from_another_home(open_home: OpenHome, tmp_path: Path) -> None:
    location = open_home("a").write(KEY, ROWS, Rejection, "run/step-1")
    tables = open_home("b")
    assert tables.place(KEY, "run/step-1") == location
    assert tables.read(KEY, Rejection, "run/step-1") == ROWS
    assert tables.digest(KEY, "run/step-1") == digest(ROWS)
    assert tables.verify(KEY, "run/step-1")
    assert tables.partitions(KEY) == ["run/step-1"]
    assert read_columns(tables, KEY, Rejection, "run/step-1")["entry"] == ["a", "b"]
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "b").exists()


def test_tables_of_another_source_are_found_and_named_in_the_error(open_home: OpenHome) -> None:
    open_home(suite=".of/x-1").write(KEY, ROWS, Rejection, "m")
    assert open_home().elsewhere("suite")[0].read(KEY, Rejection, "m") == ROWS
    assert open_home(suite=".of/x-1").elsewhere("suite") == []
    with pytest.raises(TableError, match="is of another source, name it with --source"):
        open_home().read(KEY, Rejection, "m")


def test_version_state_and_checksum_change_with_the_table(open_home: OpenHome) -> None:
    tables = open_home()
    tables.write(KEY, ROWS, Rejection, "m")
    version, state = tables.versions(KEY), tables.states(KEY)
    checksum = tables.verify(KEY, "m")
    assert (tables.versions(KEY), tables.states(KEY)) == (version, state)
    assert tables.verify(KEY, "m") == checksum

    tables.write(KEY, ROWS[:1], Rejection, "m")
    assert tables.versions(KEY) != version
    assert tables.states(KEY) != state
    assert tables.verify(KEY, "m") != checksum


def test_sql_over_shared_tables_equals_sql_over_a_folder(open_home, tmp_path):
    sql = """SELECT model, avg(value) AS mean, count(*) AS n, sum(value) AS total FROM s
             WHERE model <> $excluded GROUP BY model ORDER BY model"""

    def query(tables: TableFiles) -> list[dict[str, object]]:
        for model, value in (("m", 1.0), ("n", nan), ("o", 0.1)):
            tables.write(KEY, [metric(model, value)] * 30, Metric, model)
        return tables.query(sql, {"s": ([KEY], Metric)}, excluded="n").to_pylist()

    shared_rows = query(open_home())
    assert shared_rows == query(TableFiles(folder=str(tmp_path / "unshared" / "tables")))
    assert shared_rows[0] == {"model": "m", "mean": 1.0, "n": 30, "total": 30.0}


def test_a_query_reports_a_damaged_table_and_leaves_it_out(open_home: OpenHome) -> None:
    tables = open_home()
    for model in ("m", "n"):
        tables.write(KEY, [prediction(model=model)], Prediction, model)
    name = tables.name(KEY, "m")
    data = tables.blobs.get(name)
    assert data
    tables.blobs.put(name, data[:-40] + b"?" + data[-39:])
    view = {"p": ([KEY], Prediction)}
    damaged: dict[tuple[tuple[str, ...], str], str] = {}
    result = tables.query("SELECT model FROM p", view, damaged)
    assert result.column("model").to_pylist() == ["n"]
    assert list(damaged) == [(KEY, "m")]
    assert tables.place(KEY, "m") in damaged[KEY, "m"]
    for read in (tables.digest, tables.verify):
        with pytest.raises(TableError, match="materialize it again"):
            read(KEY, "m")
    with pytest.raises(TableError, match="materialize it again"):
        tables.query("SELECT model FROM p", view)


@long
def test_a_refusing_store_is_not_reported_as_damage(bucket, store_endpoint, tmp_path, monkeypatch):
    with Front(store_endpoint) as front:
        tables = TableFiles(
            folder=str(tmp_path / "tables"), objects=f"{bucket}/team", endpoint=front.endpoint
        )
        tables.write(KEY, ROWS, Rejection, "m")
        front.answer = 403
        with pytest.raises(HomeError, match="access denied"):
            tables.query("SELECT * FROM r", {"r": ([KEY], Rejection)}, {})
        with pytest.raises(HomeError, match="access denied"):
            tables.read(KEY, Rejection, "m")
        with pytest.raises(TableError, match="an object of a store, not a file"):
            tables.path(KEY, "m")
        front.shutdown()
