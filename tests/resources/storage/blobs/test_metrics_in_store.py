"""A leaderboard's metrics of shared homes: the same as of files, and no object is fetched."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.core.schema.rows import Metric
from bench_resources.tables.parquet import TableFiles
from tests.fakes.postgres_server import postgres
from tests.report.fair import metric

pytestmark = pytest.mark.long

KEY = ("quiz", "metrics")
SQL = "SELECT * FROM metrics WHERE category = $category ORDER BY model, metric"


def test_indexed_metrics_are_those_of_the_tables(
    tmp_path: Path, bucket: str, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgres() as server:
        monkeypatch.setenv("INDEX", server.address())
        there = {"objects": f"{bucket}/team", "endpoint": endpoint, "database": "INDEX"}
        store = TableFiles(folder=str(tmp_path / "a" / "tables"), **there)
        files = TableFiles(folder=str(tmp_path / "b" / "tables"))

        def write(model: str, value: float) -> None:
            rows = [replace(metric(model, value), category=key) for key in ("all", "é")]
            for tables in (store, files):
                tables.write(KEY, rows, Metric, model)

        def same() -> bool:
            found, wanted = (
                key.query_metrics(SQL, KEY, {}, category="é").to_pylist() for key in (store, files)
            )
            return bool(found == wanted)

        for n in range(3):
            write(f"run/step-{n}", n / 20)
        index = store.metrics_index
        assert index
        versions = store.versions(KEY)
        fetched: list[str] = []
        index.rows("quiz/metrics", versions, lambda key: fetched.append(key) or key, {})
        assert not fetched  # each was indexed under the version that the listing has
        assert same()
        write("run/step-1", 0.99)
        write("new", 0.5)
        assert same()
        store.blobs.delete(store.name(KEY, "new"))
        files.path(KEY, "new").unlink()
        assert same()
