"""Tables of a folder that is shared, and of a store: one table of cases."""

from collections.abc import Callable
from io import BytesIO
from math import nan
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bench_assets.core.schema.errors import HomeError, TableError
from bench_assets.core.schema.rows import Metric, Prediction, Rejection
from bench_assets.core.tables.arrow import digest
from bench_resources.tables.file_bytes import write_groups
from bench_resources.tables.parquet import TableFiles, read_columns
from tests.fakes.object_store import Front
from tests.fakes.rows import prediction
from tests.report.fair import metric

KEY, OTHER = ("suite", "table"), ("suite", "more", "table")
ROWS = [Rejection(entry="a", reason="r"), Rejection(entry="b", reason="s")]
long = pytest.mark.long

Opened = Callable[..., TableFiles]


@pytest.fixture(params=["a folder", pytest.param("a store", marks=long)])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens the shared tables, each time as another home."""
    shared = {"objects": f"file://{tmp_path}/mnt/team"}
    if request.param == "a store":
        bucket = request.getfixturevalue("bucket")
        shared = {"objects": f"{bucket}/team", "endpoint": request.getfixturevalue("endpoint")}

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


def test_what_was_never_written_is_not_there(opened: Opened) -> None:
    tables = opened()
    assert (tables.digest(KEY), tables.exists(KEY), tables.partitions(KEY)) == (None, False, [])
    assert not tables.exists(KEY)
    assert tables.written(KEY) == 0
    assert tables.query("SELECT * FROM t", {"t": ([KEY], Metric)}).num_rows == 0
    for ask in (tables.verify, lambda key: tables.read(key, Rejection)):
        with pytest.raises(TableError):
            ask(KEY)


def test_partitions_are_those_of_the_asset_and_of_no_asset_below(opened: Opened) -> None:
    tables = opened()
    for key, model in ((KEY, "m"), (KEY, "a b/c"), ((*KEY, "below"), "n"), (OTHER, ""), (KEY, "")):
        tables.write(key, ROWS, Rejection, model)
    assert tables.partitions(KEY) == ["a b/c", "all", "m"]
    assert list(tables.unpartitioned_keys("suite")) == [OTHER, KEY]
    assert list(tables.unpartitioned_keys("suit")) == []


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
    found = [
        tables.query(sql, {"s": ([KEY], Metric)}, but="n").to_pylist() for tables in (opened(), own)
    ]
    assert found[0] == found[1]
    assert found[0][0] == {"model": "m", "mean": 1.0, "n": 30, "most": 30.0}


def test_sql_reads_a_table_that_is_older_than_a_column_beside_a_newer_one(opened: Opened) -> None:
    tables = opened()
    rows = [prediction(model="m", no_answer="none"), prediction(model="n")]
    for row in rows:
        tables.write(KEY, [row], Prediction, row.model)
    data, older = tables.blobs.get(tables.name(KEY, "n")), BytesIO()
    table = pq.read_table(BytesIO(data or b"")).drop_columns(["no_answer"])
    write_groups([table], table.schema, older)
    tables.blobs.put(tables.name(KEY, "n"), older.getvalue())
    found = tables.query("SELECT * FROM p ORDER BY model", {"p": ([KEY], Prediction)})
    assert found.column("no_answer").to_pylist() == ["none", None]  # as of files


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
    found = tables.query("SELECT model FROM p", view, damaged)
    assert found.column("model").to_pylist() == ["n"]
    assert list(damaged) == [(KEY, "m")]
    assert tables.place(KEY, "m") in damaged[KEY, "m"]
    for ask in (tables.digest, tables.verify):
        with pytest.raises(TableError, match="materialize it again"):
            ask(KEY, "m")
    with pytest.raises(TableError, match="materialize it again"):
        tables.query("SELECT model FROM p", view)


@long
def test_a_store_that_is_away_is_no_damage(
    bucket: str, endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Front(endpoint) as front:
        shared = {"objects": f"{bucket}/team", "endpoint": front.endpoint}
        tables = TableFiles(folder=str(tmp_path / "tables"), **shared)
        tables.write(KEY, ROWS, Rejection, "m")
        front.answer = 403
        with pytest.raises(HomeError, match="access denied"):
            tables.query("SELECT * FROM r", {"r": ([KEY], Rejection)}, {})
        with pytest.raises(HomeError, match="access denied"):
            tables.read(KEY, Rejection, "m")
        with pytest.raises(TableError, match="an object of a store, not a file"):
            tables.path(KEY, "m")
        front.shutdown()
