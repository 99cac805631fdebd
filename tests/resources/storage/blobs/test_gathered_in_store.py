"""A leaderboard's metrics out of a store: the same as of files, and fetched once."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.core.schema.rows import Metric
from resources.tables.metrics_snapshot import SNAPSHOT_FOLDER
from resources.tables.parquet import TableFiles
from tests.report.fair import metric

pytestmark = pytest.mark.long

KEY = ("quiz", "metrics")
SQL = "SELECT * FROM metrics ORDER BY model, category"


def test_metrics_are_those_of_the_tables_whatever_was_gathered(
    tmp_path: Path, bucket: str, endpoint: str
) -> None:
    store = TableFiles(
        folder=str(tmp_path / "a" / "tables"), objects=f"{bucket}/team", endpoint=endpoint
    )
    files = TableFiles(folder=str(tmp_path / "b" / "tables"))

    def write(model: str, value: float) -> None:
        rows = [replace(metric(model, value), category=one) for one in ("all", "é")]
        for tables in (store, files):
            tables.write(KEY, rows, Metric, model)

    def same() -> bool:
        views = {"metrics": ([KEY], Metric)}
        found, wanted = (one.query(SQL, views).to_pylist() for one in (store, files))
        return bool(found == wanted)

    for n in range(20):
        write(f"run/step-{n}", n / 20)
    assert same()
    (gathered,) = store.blobs.list(SNAPSHOT_FOLDER)
    assert same()
    assert list(store.blobs.list(SNAPSHOT_FOLDER)) == [gathered]  # it was not written again
    write("run/step-3", 0.99)
    write("new", 0.5)
    assert same()
    assert list(store.blobs.list(SNAPSHOT_FOLDER)) != [gathered]
    store.blobs.delete(gathered.name)
    assert same()
    assert store.partitions(KEY) == files.partitions(KEY)
    assert store.elsewhere("quiz") == []
    assert list(store.undivided("quiz")) == []
