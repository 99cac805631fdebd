"""The leaderboard of a thousand models on ten tasks, of tables that are objects of a store.

The store is simulated: each answer takes as long as one of S3 may.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from bench_assets.asset_factory.evaluation_assets import evaluation_key
from bench_assets.core.schema.rows import LeaderboardRow, Metric, Question
from bench_assets.core.schema.signature import short
from bench_assets.core.tables.arrow import digest
from bench_assets.defs.tables.leaderboard import all_standings
from bench_assets.evaluation.task import Task
from bench_assets.suites.codis.task import TASK as CODIS
from benchmarks.figures import Figure
from resources.storage.blobs.objects import ObjectBlobs
from resources.storage.blobs.port import BlobEntry, Blobs
from resources.tables.parquet import TableFiles

_N = 1000  # models
_TASKS = [replace(CODIS, name=f"codis/part_{number}") for number in range(10)]
_ANSWER = 0.02  # s
_LISTED_AT_ONCE = 1000
_QUESTION = Question(
    question_id="codis/1", task="codis", edition="own", kind="text", text="?", answer=("A",)
)


class _Far(ObjectBlobs):
    """Objects that are some milliseconds away."""

    def get(self, name: str) -> bytes | None:
        time.sleep(_ANSWER)
        return super().get(name)

    def exists(self, name: str) -> bool:
        time.sleep(_ANSWER)
        return super().exists(name)

    def list(self, under: str = "") -> Iterator[BlobEntry]:
        found = list(super().list(under))
        time.sleep(_ANSWER * (1 + len(found) // _LISTED_AT_ONCE))
        yield from found

    def folders(self, under: str = "") -> Sequence[str]:
        time.sleep(_ANSWER)
        return super().folders(under)


class _StoredTables(TableFiles):
    """Tables that are objects; the folder names of which store."""

    @property
    def blobs(self) -> Blobs:
        return _STORES[self.folder]


_STORES: dict[str, Blobs] = {}


def measure(folder: Path) -> list[Figure]:
    """Make the leaderboard before and after metrics were gathered, and with one more model."""
    from obstore.store import MemoryStore

    store = MemoryStore()
    _STORES["near"] = ObjectBlobs(store, "a store")
    _STORES["far"] = _Far(store, "the same, 20 ms away")
    near, far = (_StoredTables(folder=name) for name in ("near", "far"))
    for task in _TASKS:
        near.write(_key(task, "questions"), [_QUESTION], Question)
    for number in range(_N):
        _write(near, number)
    first, gathering = _leaderboard(far)
    again, gathered = _leaderboard(far)
    assert first == again
    assert [(row.task, row.value) for row in first] == _expected()
    _write(near, _N)
    more, one_more = _leaderboard(far)
    assert len(more) == len(first) + len(_TASKS)
    named = f"leaderboard of {_N:,} models on {len(_TASKS)} tasks, objects"
    return [
        Figure(what=named, value=gathered, most=3, unit="s"),
        Figure(what="    when one model is new", value=one_more, unit="s"),
        Figure(what="    when all are new", value=gathering, unit="s"),
    ]


def _leaderboard(tables: TableFiles) -> tuple[list[LeaderboardRow], float]:
    started = perf_counter()
    rows = all_standings(_TASKS, tables, [])
    return rows, perf_counter() - started


def _expected() -> list[tuple[str, float]]:
    """Of each task a thousand values, one thousandth apart, the best first."""
    return [(task.name, number / _N) for task in _TASKS for number in reversed(range(_N))]


def _write(tables: TableFiles, number: int) -> None:
    """Write a model's metrics of all tasks: one table of ten rows, which lies in ten places."""
    model = f"model-{number:04d}"
    rows = [_metric(task.name, model, number) for task in _TASKS]
    tables.write(_key(_TASKS[0], "metrics"), rows, Metric, model)
    data = tables.blobs.get(tables.name(_key(_TASKS[0], "metrics"), model))
    assert data
    for task in _TASKS[1:]:
        tables.blobs.put(tables.name(_key(task, "metrics"), model), data)


def _key(task: Task, name: str) -> list[str]:
    return evaluation_key(task, "main", name)


def _metric(task: str, model: str, number: int) -> Metric:
    value = (number * 7919 % _N) / _N
    return Metric(
        task=task,
        model=model,
        condition="main",
        metric=CODIS.primary_metric,
        category="all",
        value=value,
        low=value - 0.02,
        high=value + 0.02,
        n_scored=1000,
        n_unscored=0,
        n_failed=0,
        edition="own",
        data=short(digest([_QUESTION])),
        signature="codis|v2|main",
    )
