"""The leaderboard of 300 models on nine tasks, whose tables are in a store.

The store is a folder; each of its answers takes as long as one of S3 may.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter

from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.defs.tables.leaderboard import rank_tasks
from bench_assets.evaluation.task import Task
from bench_assets.suites.codis.task import TASK as CODIS
from bench_resources.cluster.object_store import ObjectBlobs
from bench_resources.storage.blobs.port import BlobEntry, Blobs
from bench_resources.tables.parquet import TableFiles
from benchmarks.figures import Figure, expect, run_command

_N = 300  # models
_TASKS = [replace(CODIS, name=f"codis/part_{number}") for number in range(9)]
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
    """Tables that are objects of a store in a folder."""

    @property
    def blobs(self) -> Blobs:
        from obstore.store import LocalStore

        near = self.folder.endswith("near")
        kind = ObjectBlobs if near else _Far
        return kind(LocalStore(Path(self.folder).parent / "objects", mkdir=True), "a store")


def measure(folder: Path) -> list[Figure]:
    """Write the tables; make the leaderboard in a new process."""
    near = _StoredTables(folder=str(folder / "near"))
    for task in _TASKS:
        near.write(_key(task, "questions"), [_QUESTION], Question)
    for number in range(_N):
        _write(near, number)
    cold, peak = _leaderboard(folder)
    named = f"leaderboard of {_N:,} models on {len(_TASKS)} tasks, objects"
    return [
        Figure(what=f"{named}, cold", value=cold, most=5, unit="s"),
        Figure(what="    peak memory", value=peak, most=300, unit="MiB"),
    ]


def _leaderboard(folder: Path) -> tuple[float, float]:
    """Seconds and peak memory (MiB) of a process that makes it."""
    command = (sys.executable, "-m", "benchmarks.cluster_leaderboard", str(folder / "far"))
    ran = expect(run_command(folder / "home", *command))
    seconds, peak = map(float, ran.output.split()[-2:])
    return seconds, peak


def _write(tables: TableFiles, number: int) -> None:
    """Write a model's metrics of all tasks."""
    model = f"model-{number:04d}"
    for task in _TASKS:
        kinds = dict.fromkeys(("all", *CODIS.counts))
        rows = [replace(_metric(task.name, model, number), category=one) for one in kinds]
        tables.write(_key(task, "metrics"), rows, Metric, model)


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
        data=short_digest(digest([_QUESTION])),
        signature="codis|v2|main",
    )


def main(folder: str) -> None:
    """Make the leaderboard; the last words of output are its seconds and peak memory in MiB."""
    tables = _StoredTables(folder=folder)
    started = perf_counter()
    rows = rank_tasks(_TASKS, tables, [])
    seconds = perf_counter() - started
    assert len(rows) >= _N * len(_TASKS), len(rows)
    best = [row.value for row in rows if row.task == _TASKS[0].name][:3]
    assert best == [(_N - place) / _N for place in (1, 2, 3)], best
    sys.stdout.write(f"{seconds} {getrusage(RUSAGE_SELF).ru_maxrss / 1024}\n")


if __name__ == "__main__":
    main(sys.argv[1])
