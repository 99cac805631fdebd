"""What is gathered is what the tables say, whatever became of either."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.core.schema.rows import Metric
from bench_assets.core.tables.arrow import to_table
from resources.storage.blobs.files import FileBlobs
from resources.tables.metrics_snapshot import FetchedTable, fetch_metrics
from tests.report.fair import metric

N = 20  # models


class Tables:
    """Tables under versions, as a store has them, which count how often they are fetched."""

    def __init__(self, folder: Path) -> None:
        self.blobs = FileBlobs(folder)
        self.tables: dict[str, tuple[str, FetchedTable]] = {}
        self.asked: list[str] = []
        for n in range(N):
            self.put(f"m{n:02d}", n / N)

    def put(self, model: str, value: float) -> None:
        rows = [replace(metric(model, value), category=one) for one in ("all", "é")]
        self.tables[model] = (f"{value}", to_table(rows, Metric))

    def gathered(self) -> dict[str, FetchedTable]:
        self.asked.clear()
        versions = {model: version for model, (version, _) in sorted(self.tables.items())}
        return fetch_metrics(self.blobs, "codis/metrics", versions, Metric, self._fetch)

    def _fetch(self, model: str) -> FetchedTable:
        self.asked.append(model)
        return self.tables[model][1]

    def are(self, found: dict[str, FetchedTable]) -> bool:
        """Whether all were found as they are, in order."""
        return list(found) == sorted(self.tables) and all(
            one == self.tables[model][1] for model, one in found.items()
        )


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    return Tables(tmp_path)


def test_what_was_gathered_is_fetched_no_more_and_is_the_same(tables: Tables) -> None:
    assert tables.are(tables.gathered())
    assert sorted(tables.asked) == sorted(tables.tables)
    assert tables.are(tables.gathered())
    assert not tables.asked


def change(tables: Tables) -> None:
    tables.put("m03", 0.99)


def add(tables: Tables) -> None:
    tables.put("new", 0.5)


def remove(tables: Tables) -> None:
    del tables.tables["m03"]


def cut(tables: Tables) -> None:
    (one,) = tables.blobs.list()
    data = tables.blobs.get(one.name)
    assert data
    tables.blobs.put(one.name, data[: len(data) // 2])


def flip(tables: Tables) -> None:
    (one,) = tables.blobs.list()
    data = bytearray(tables.blobs.get(one.name) or b"")
    data[len(data) // 2] ^= 1
    tables.blobs.put(one.name, bytes(data))


def lose(tables: Tables) -> None:
    (one,) = tables.blobs.list()
    tables.blobs.delete(one.name)


@pytest.mark.parametrize(
    ("happens", "n_fetched"),
    [(change, 1), (add, 1), (remove, 0), (cut, N), (flip, N), (lose, N)],
)
def test_whatever_happens_the_tables_count(
    tables: Tables, happens: Callable[[Tables], None], n_fetched: int
) -> None:
    tables.gathered()
    happens(tables)
    assert tables.are(tables.gathered())
    assert len(tables.asked) == n_fetched
    assert tables.are(tables.gathered())
    assert not tables.asked


@pytest.mark.parametrize(
    "other",
    [
        pytest.param("m03: damaged", id="one that cannot be read"),
        pytest.param(
            to_table([metric("m03", 0.5)], Metric).drop_columns(["setup"]),
            id="one that is older than a column",
        ),
    ],
)
def test_what_cannot_be_gathered_is_fetched_each_time(tables: Tables, other: FetchedTable) -> None:
    tables.tables["m03"] = ("x", other)
    for n_fetched in (N, 1):
        assert tables.are(tables.gathered())
        assert len(tables.asked) == n_fetched


def test_who_may_not_write_reads_all_the_same(tables: Tables, tmp_path: Path) -> None:
    (tmp_path / ".gathered").write_text("in the way")
    for _ in range(2):
        assert tables.are(tables.gathered())
        assert len(tables.asked) == N
