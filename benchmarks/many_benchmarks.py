"""(18) A home of 120 file benchmarks, and one of 300 watched checkpoints on the five suites."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
from dagster._core.remote_representation.external_data import RepositorySnap

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.catalog import load_catalog
from bench_assets.defs.assembly import build_graph
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_resources.config.bench_toml import load_settings
from benchmarks.figures import Figure, expect, run_command
from tests.fakes.checkpoint_files import write_checkpoint
from tests.sensors.watched import (
    TABLES,
    Daemon,
    record,
    watching,
    with_questions,
)

_BENCHMARKS, _CHECKPOINTS = 120, 300
_ROWS = 5  # of a benchmark
_MOST_SECONDS = {
    "load": 10.0,
    "snapshot": 15.0,
    "metric_changes": 10.0,
    "question_changes": 30.0,
    "checkpoint_folders": 20.0,
}
"""CPU seconds; Dagster ends a tick after 60."""


def measure(folder: Path) -> list[Figure]:
    """Measure both homes, each in a process of its own."""
    figures = []
    for name in ("file benchmarks", "checkpoints"):
        (home := folder / name.replace(" ", "-")).mkdir()
        ran = run_command(home, sys.executable, "-m", "benchmarks.many_benchmarks", name, str(home))
        values = json.loads(expect(ran).output.splitlines()[-1])
        figures += [Figure(**figure) for figure in values]
    return figures


def _many_benchmarks(home: Path) -> Iterator[Figure]:
    for number in range(_BENCHMARKS):
        rows = (
            {"question": f"What is {row} + {number}?", "answer": str(row + number)}
            for row in range(_ROWS)
        )
        (home / f"b{number}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (home / "bench.toml").write_text(
        "".join(f'[benchmarks.b{n}]\nfile = "b{n}.jsonl"\n' for n in range(_BENCHMARKS))
    )
    began = time.process_time()
    settings = load_settings(home)
    graph = build_graph(settings, load_catalog(settings))
    repository = graph.definitions.get_repository_def()
    assets = repository.asset_graph
    yield _seconds(f"(18) load {_BENCHMARKS} file benchmarks", "load", began)
    n_suites = len(graph.catalog.suites)
    yield Figure(what=f"     assets of {n_suites} suites", value=len(assets.get_all_asset_keys()))
    yield Figure(what="     asset checks", value=len(assets.asset_check_keys))
    began = time.process_time()
    RepositorySnap.from_def(repository)
    yield _seconds("     describe them for the UI", "snapshot", began)
    with open_instance(home, settings) as instance:
        instance.add_dynamic_partitions(str(MODELS.name), ["random", "most-frequent"])
        for sensor in repository.sensor_defs:
            name = sensor.name.rstrip("_0123456789")
            if name in _MOST_SECONDS:
                began = time.process_time()
                sensor.evaluate_tick(
                    dg.build_sensor_context(
                        instance=instance, repository_def=repository, sensor_name=sensor.name
                    )
                )
                yield _seconds(f"     first tick of {sensor.name}", name, began)


def _many_checkpoints(home: Path) -> Iterator[Figure]:
    settings = watching(home, suites=json.dumps([*TABLES]))
    for number in range(_CHECKPOINTS):
        write_checkpoint(home.parent / "runs" / "a" / f"step-{number}", f"{number:04}".encode())
    with open_instance(home, settings) as instance:
        daemon = Daemon(settings, with_questions(instance))
        began = time.process_time()
        requests: list[str] = []
        while new := daemon.tick():  # at most 100 in a tick
            requests += new
        yield Figure(
            what=f"(18) requests for {_CHECKPOINTS} checkpoints on {len(TABLES)} suites",
            value=len(requests),
            most=_CHECKPOINTS,
            exactly=True,
        )
        yield _seconds("     their ticks", "checkpoint_folders", began)
        numbers = [key for tables in TABLES.values() for key in tables.numbers]
        for checkpoint in instance.get_dynamic_partitions(str(MODELS.name)):
            for key in numbers:
                record(instance, key, checkpoint)
        daemon.end_runs()
        began = time.process_time()
        yield Figure(
            what="     requests after all have numbers",
            value=len(daemon.tick()),
            most=0,
            exactly=True,
        )
        yield _seconds("     their tick", "checkpoint_folders", began)


def _seconds(what: str, bound: str, began: float) -> Figure:
    seconds = time.process_time() - began
    return Figure(what=what, value=seconds, most=_MOST_SECONDS[bound], unit="s CPU")


def main(name: str, home: str) -> None:
    """Print the figures of one home as the last line."""
    measured = _many_benchmarks if name == "file benchmarks" else _many_checkpoints
    figures = [
        {
            "what": figure.what,
            "value": figure.value,
            "most": figure.most,
            "exactly": figure.exactly,
            "unit": figure.unit,
        }
        for figure in measured(Path(home))
    ]
    sys.stdout.write(f"\n{json.dumps(figures)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
