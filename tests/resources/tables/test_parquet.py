"""Tables on disk and in a store that homes share: whole or not at all."""

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
from bench_resources.tables.parquet import (
    TableFiles,
    TableIOManager,
    read_columns,
)
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
def test_a_partition_has_one_file_of_its_own_inside_the_folder(files, tmp_path, model):
    path = Path(files.write(KEY, ROWS[:1], Rejection, model))
    files.write(KEY, ROWS, Rejection)
    assert path.parent == tmp_path / "suite" / "table"
    assert files.read(KEY, Rejection, model) == ROWS[:1]
    assert model in files.partitions(KEY)


def test_a_write_that_fails_leaves_the_earlier_table(files):
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
def test_a_table_that_was_never_made_names_the_command_that_makes_it(files, key, model, command):
    with pytest.raises(TableError, match=f"no table yet.*{command}"):
        files.read(key, Rejection, model)


def test_a_query_reads_tables_older_than_a_column_beside_newer_ones(files):
    rows = [prediction(no_answer="no answer in 8 tokens")]
    older = files.write(KEY, [prediction(model="n")], Prediction, "n")
    table = pq.read_table(older).drop_columns(["no_answer"])
    with Path(older).open("w+b") as out:
        write_groups([table], table.schema, out)
    view = {"p": ([KEY], Prediction)}
    assert to_rows(files.query("SELECT * FROM p", view), Prediction) == [prediction(model="n")]
    files.write(KEY, rows, Prediction, "m")
    result = to_rows(files.query("SELECT * FROM p ORDER BY model", view), Prediction)
    assert [row.no_answer or "" for row in result] == ["no answer in 8 tokens", ""]


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


Opened = Callable[..., TableFiles]


@pytest.fixture(params=["a folder", pytest.param("a store", marks=long)])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens the shared tables, each time as another home."""
    shared = {"objects": f"file://{tmp_path}/mnt/team"}
    if request.param == "a store":
        bucket = request.getfixturevalue("bucket")
        shared = {
            "objects": f"{bucket}/team",
            "endpoint": request.getfixturevalue("store_endpoint"),
        }

    def open_home(name: str = "a", **places: str) -> TableFiles:
        return TableFiles(folder=str(tmp_path / name / "tables"), places=places, **shared)

    return open_home


def test_what_one_home_writes_another_reads(opened: Opened, tmp_path: Path) -> None:
    place = opened("a").write(KEY, ROWS, Rejection, "run/step-1")
    there = opened("b")
    assert there.place(KEY, "run/step-1") == place
    assert there.read(KEY, Rejection, "run/step-1") == ROWS
    assert there.digest(KEY, "run/step-1") == digest(ROWS)
    assert there.verify(KEY, "run/step-1")
    assert there.partitions(KEY) == ["run/step-1"]
    assert read_columns(there, KEY, Rejection, "run/step-1")["entry"] == ["a", "b"]
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "b").exists()


def test_tables_of_another_source_are_elsewhere(opened: Opened) -> None:
    opened(suite=".of/x-1").write(KEY, ROWS, Rejection, "m")
    assert opened().elsewhere("suite")[0].read(KEY, Rejection, "m") == ROWS
    assert [one.places for one in opened(suite=".of/x-1").elsewhere("suite")] == []
    with pytest.raises(TableError, match="is of another source, name it with --source"):
        opened().read(KEY, Rejection, "m")
    (one,) = opened().blobs.list()
    holder, key, model = opened().locate_file(one.name)
    assert (holder.read(key, Rejection, model), model) == (ROWS, "m")


def test_a_version_changes_with_each_table_and_a_state_with_its_bytes(opened: Opened) -> None:
    tables = opened()
    tables.write(KEY, ROWS, Rejection, "m")
    before = tables.versions(KEY), tables.states(KEY), tables.verify(KEY, "m")
    assert before == (tables.versions(KEY), tables.states(KEY), tables.verify(KEY, "m"))
    tables.write(KEY, ROWS[:1], Rejection, "m")
    after = tables.versions(KEY), tables.states(KEY), tables.verify(KEY, "m")
    assert not any(one == other for one, other in zip(before, after, strict=True))


def test_sql_finds_the_same_as_in_a_home_of_ones_own(opened: Opened, tmp_path: Path) -> None:
    own = TableFiles(folder=str(tmp_path / "own" / "tables"))
    for tables in (opened(), own):
        for model, value in (("m", 1.0), ("n", nan), ("o", 0.1)):
            tables.write(KEY, [metric(model, value)] * 30, Metric, model)
    sql = """SELECT model, avg(value) AS mean, count(*) AS n, sum(value) AS most FROM s
             WHERE model <> $but GROUP BY model ORDER BY model"""
    result = [
        tables.query(sql, {"s": ([KEY], Metric)}, but="n").to_pylist() for tables in (opened(), own)
    ]
    assert result[0] == result[1]
    assert result[0][0] == {"model": "m", "mean": 1.0, "n": 30, "most": 30.0}


def test_a_damaged_table_is_reported_and_left_out(opened: Opened) -> None:
    tables = opened()
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
    for ask in (tables.digest, tables.verify):
        with pytest.raises(TableError, match="materialize it again"):
            ask(KEY, "m")
    with pytest.raises(TableError, match="materialize it again"):
        tables.query("SELECT model FROM p", view)


@long
def test_a_store_that_is_away_is_no_damage(
    bucket: str, store_endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
