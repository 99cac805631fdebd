"""The leaderboard of 300 models on nine tasks, with tables in an object store.

The store is a local folder; its requests wait as long as those to S3 may.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter, sleep
from typing import ClassVar

from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.defs.tables.leaderboard import rank_tasks
from bench_assets.suites.codis.task import TASK as CODIS
from bench_resources.cluster.object_store import ObjectBlobs
from bench_resources.storage.blobs.port import BlobEntry, Blobs
from bench_resources.tables.parquet import TableFiles
from benchmarks.figures import Figure, run_command
from tests.fakes.rows import metric

_N_MODELS = 300
_TASKS = [replace(CODIS, name=f"codis/part_{number}") for number in range(9)]
_LATENCY = 0.02  # s
_NAMES_PER_REQUEST = 1000
_QUESTION = Question(
    question_id="codis/1", task="codis", edition="own", kind="text", text="?", answer=("A",)
)


class _SlowBlobs(ObjectBlobs):
    """Objects whose requests take at least the latency."""

    def get(self, name: str) -> bytes | None:
        sleep(_LATENCY)
        return super().get(name)

    def exists(self, name: str) -> bool:
        sleep(_LATENCY)
        return super().exists(name)

    def list(self, under: str = "") -> Iterator[BlobEntry]:
        entries = list(super().list(under))
        sleep(_LATENCY * (1 + len(entries) // _NAMES_PER_REQUEST))
        yield from entries

    def folders(self, under: str = "") -> Sequence[str]:
        sleep(_LATENCY)
        return super().folders(under)


class _StoredTables(TableFiles):
    """Tables in the object store ``objects`` beside the folder."""

    blobs_class: ClassVar[type[ObjectBlobs]] = ObjectBlobs

    @property
    def blobs(self) -> Blobs:
        from obstore.store import LocalStore

        store = LocalStore(Path(self.folder).parent / "objects", mkdir=True)
        return self.blobs_class(store, "a local store")


class _SlowTables(_StoredTables):
    """The same tables, with the latency of requests."""

    blobs_class: ClassVar[type[ObjectBlobs]] = _SlowBlobs


def measure(folder: Path) -> list[Figure]:
    """Write the tables, and rank the models in a new process."""
    tables = _StoredTables(folder=str(folder / "fast"))
    for task in _TASKS:
        tables.write(evaluation_key(task, "main", "questions"), [_QUESTION], Question)
    for number in range(_N_MODELS):
        _write_metrics(tables, number)
    command = (sys.executable, "-m", "benchmarks.cluster_leaderboard", str(folder / "slow"))
    run = run_command(folder / "home", *command)
    return [
        Figure(
            f"leaderboard of {_N_MODELS} models on {len(_TASKS)} tasks in an object store",
            float(run.output.split()[-1]),
            at_most=5,
            unit="s",
        ),
        Figure("    peak memory", run.peak_mib, at_most=300, unit="MiB"),
    ]


def _write_metrics(tables: TableFiles, number: int) -> None:
    """Write a model's metrics of all tasks and categories."""
    model = f"model-{number:04d}"
    for task in _TASKS:
        row = _build_metric(task.name, model, number)
        categories = dict.fromkeys(("all", *CODIS.counts))
        rows = [replace(row, category=category) for category in categories]
        tables.write(evaluation_key(task, "main", "metrics"), rows, Metric, model)


def _build_metric(task: str, model: str, number: int) -> Metric:
    """Build a metric whose value is k/300, with another k for each model."""
    return metric(
        model,
        (number * 7919 % _N_MODELS) / _N_MODELS,
        task=task,
        metric=CODIS.primary_metric,
        edition="own",
        data=short_digest(digest([_QUESTION])),
        signature="codis|v2|main",
    )


def main(folder: str) -> None:
    """Rank the models, and print the seconds."""
    tables = _SlowTables(folder=folder)
    started = perf_counter()
    rows = rank_tasks(_TASKS, tables, [])
    seconds = perf_counter() - started
    assert len(rows) >= _N_MODELS * len(_TASKS), len(rows)
    best = [row.value for row in rows if row.task == _TASKS[0].name][:3]
    assert best == [k / _N_MODELS for k in (299, 298, 297)], best
    sys.stdout.write(f"{seconds}\n")


if __name__ == "__main__":
    main(sys.argv[1])
