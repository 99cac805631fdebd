"""The index says of metrics what their tables say, in files and in a store."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
import sqlalchemy as sa

from bench_assets.core.schema.rows import Metric
from bench_assets.core.tables.arrow import to_table
from bench_resources.storage.database import SqliteDatabase
from bench_resources.storage.schema import metric_rows, metric_tables
from bench_resources.tables.fetching import FetchedTable
from bench_resources.tables.metrics_index import MetricsIndex
from bench_resources.tables.parquet import TableFiles
from tests.report.fair import metric

BELOW = "codis/metrics"


class Tables:
    """Tables under versions, as a store has them, which note when they are fetched."""

    def __init__(self, folder: Path) -> None:
        self.database = SqliteDatabase(folder / "metrics.sqlite", "delete it")
        self.index = MetricsIndex(self.database)
        self.tables: dict[str, tuple[str, FetchedTable]] = {}
        self.fetched: list[str] = []
        for n in range(3):
            self.put(f"m{n}", n / 3)

    def put(self, model: str, value: float) -> None:
        rows = [replace(metric(model, value), category=one) for one in ("all", "é\0")]
        self.tables[model] = (f"{value}", to_table(rows, Metric))

    def rows(self, **where: str) -> dict[str, FetchedTable]:
        self.fetched.clear()
        versions = {model: version for model, (version, _) in self.tables.items()}
        return self.index.rows(BELOW, versions, self._fetch, where)

    def values(self, **where: str) -> list[tuple[str, str, float]]:
        found = pa.concat_tables(one for one in self.rows(**where).values() if not is_why(one))
        rows = found.select(["model", "category", "value"]).to_pylist()
        return sorted((row["model"], row["category"], row["value"]) for row in rows)

    def _fetch(self, model: str) -> FetchedTable:
        self.fetched.append(model)
        return self.tables[model][1]


def is_why(one: FetchedTable) -> bool:
    return isinstance(one, str)


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(tmp_path)


def test_what_is_indexed_is_fetched_no_more_and_is_the_same(tables: Tables) -> None:
    tables.rows()
    assert tables.fetched == ["m0", "m1", "m2"]
    found = tables.rows()[""]
    assert found == pa.concat_tables([one for _, one in tables.tables.values()])
    assert not tables.fetched


def test_wanted_rows_are_chosen_in_the_database(tables: Tables) -> None:
    tables.rows()
    assert tables.values(metric="accuracy", category="all") == [
        ("m0", "all", 0.0),
        ("m1", "all", 1 / 3),
        ("m2", "all", 2 / 3),
    ]
    assert tables.values(metric="another") == []
    assert not tables.fetched


def test_a_table_that_is_put_is_never_fetched(tables: Tables) -> None:
    for model, (version, rows) in tables.tables.items():
        assert isinstance(rows, pa.Table)
        tables.index.put(BELOW, model, version, rows)
    assert len(tables.values()) == 6
    assert not tables.fetched


def change(tables: Tables) -> None:
    tables.put("m1", 0.99)


def add(tables: Tables) -> None:
    tables.put("new", 0.5)


def remove(tables: Tables) -> None:
    del tables.tables["m1"]


def lose(tables: Tables) -> None:
    tables.database.write(lambda connection: connection.execute(sa.delete(metric_tables)))


def damage(tables: Tables) -> None:
    broken = sa.update(metric_rows).values(row="{")
    tables.database.write(lambda connection: connection.execute(broken))


@pytest.mark.parametrize(
    ("happens", "fetched"),
    [
        (change, ["m1"]),
        (add, ["new"]),
        (remove, []),
        (lose, ["m0", "m1", "m2"]),
        (damage, ["m0", "m1", "m2"]),
    ],
)
def test_whatever_happens_the_tables_count(
    tables: Tables, happens: Callable[[Tables], None], fetched: list[str]
) -> None:
    tables.rows()
    happens(tables)
    tables.rows()
    assert tables.fetched == fetched
    written = [(m, c, float(v)) for m, (v, _) in tables.tables.items() for c in ("all", "é\0")]
    assert tables.values() == sorted(written)
    assert not tables.fetched


def test_rows_of_tables_that_are_gone_are_deleted(tables: Tables) -> None:
    tables.rows()
    remove(tables)
    tables.rows()
    left = sa.select(metric_rows.c.partition).distinct()
    found = tables.database.read(lambda connection: connection.execute(left).scalars().all())
    assert sorted(found) == ["m0", "m2"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("m1: damaged", id="one that cannot be read"),
        pytest.param(
            to_table([metric("m1", 0.5)], Metric).drop_columns(["setup"]),
            id="one that is older than a column",
        ),
    ],
)
def test_what_cannot_be_indexed_is_fetched_each_time(tables: Tables, other: FetchedTable) -> None:
    tables.tables["m1"] = ("x", other)
    for fetched in (["m0", "m1", "m2"], ["m1"]):
        assert tables.rows()["m1"] == other
        assert tables.fetched == fetched


KEY = ("quiz", "metrics")
SQL = "SELECT * FROM metrics WHERE category = $category ORDER BY model, metric"


@pytest.mark.long
def test_indexed_metrics_are_those_of_the_tables(
    tmp_path: Path,
    bucket: str,
    store_endpoint: str,
    database_address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("INDEX", database_address)
    store = TableFiles(
        folder=str(tmp_path / "a" / "tables"),
        objects=f"{bucket}/team",
        endpoint=store_endpoint,
        database="INDEX",
    )
    files = TableFiles(folder=str(tmp_path / "b" / "tables"))

    def write(model: str, value: float) -> None:
        rows = [replace(metric(model, value), category=key) for key in ("all", "é")]
        for tables in (store, files):
            tables.write(KEY, rows, Metric, model)

    def same() -> bool:
        found, wanted = (
            tables.query_metrics(SQL, KEY, {}, category="é").to_pylist()
            for tables in (store, files)
        )
        return bool(found == wanted)

    for n in range(3):
        write(f"run/step-{n}", n / 20)
    index = store.metrics_index
    assert index
    versions = store.versions(KEY)
    index.rows(
        "quiz/metrics", versions, pytest.fail, {}
    )  # each was indexed under the version that the listing has
    assert same()
    write("run/step-1", 0.99)
    write("new", 0.5)
    assert same()
    store.blobs.delete(store.name(KEY, "new"))
    files.path(KEY, "new").unlink()
    assert same()
