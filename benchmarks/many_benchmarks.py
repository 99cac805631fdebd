"""(18) Homes of 120 file benchmarks, and of 300 watched checkpoints and models on five suites."""

import gc
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import dagster as dg
from dagster._core.definitions.sensor_definition import SensorExecutionData
from dagster._core.remote_representation.external_data import RepositorySnap

from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.catalog import load_catalog
from bench_assets.core.schema.rows import Metric
from bench_assets.core.tables.arrow import digest
from bench_assets.defs.assembly import build_graph
from bench_assets.defs.checks.staleness import CurrentConfiguration
from bench_assets.defs.observed_inputs import observe_inputs
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization.backfill import backfill
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.runs.ledger import DATA_VERSION, last_materialization
from bench_resources.tables.parquet import TABLE_DIGEST
from benchmarks.figures import Figure, expect, run, run_command
from tests.fakes.checkpoint_files import write_checkpoint
from tests.sensors.watched import (
    TABLES,
    Daemon,
    record_materialization,
    record_question_tables,
    watch_runs,
)

_BENCHMARKS, _CHECKPOINTS = 120, 300
_NAMES = [f"m{number:03}" for number in range(_CHECKPOINTS)]  # of models with a number each
_ROWS = 5  # of a benchmark
_MOST_SECONDS = {
    "load": 10.0,
    "snapshot": 15.0,
    "metric_changes": 10.0,
    "question_changes": 30.0,
    "checkpoint_folders": 20.0,
    "board": 25.0,
    "board again": 12.0,
    "current": 2.0,
    "observed_inputs": 5.0,
}
"""CPU seconds; Dagster ends a tick after 60."""


def measure(folder: Path) -> list[Figure]:
    """Measure the homes, each in a process of its own."""
    figures = []
    for name in _HOMES:
        (home := folder / name.replace(" ", "-")).mkdir()
        ran = run_command(home, sys.executable, "-m", "benchmarks.many_benchmarks", name, str(home))
        lines = expect(ran).output.splitlines()  # libraries may write when a process ends
        values = json.loads(next(line for line in reversed(lines) if line.startswith("[{")))
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
    gc.disable()  # as bench_assets.definitions loads the graph
    began = time.process_time()
    settings = load_settings(home)
    graph = build_graph(settings, load_catalog(settings))
    repository = graph.definitions.get_repository_def()
    assets = repository.asset_graph
    gc.enable()
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
            if sensor.name.startswith(("metric_changes", "question_changes")):
                yield _tick(sensor, repository, instance)[0]


def _many_checkpoints(home: Path) -> Iterator[Figure]:
    settings = watch_runs(home, suites=json.dumps([*TABLES]))
    for number in range(_CHECKPOINTS):
        write_checkpoint(home.parent / "runs" / "a" / f"step-{number}", f"{number:04}".encode())
    with open_instance(home, settings) as instance:
        daemon = Daemon(settings, record_question_tables(instance))
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
        metrics = [key for tables in TABLES.values() for key in tables.metrics]
        for checkpoint in instance.get_dynamic_partitions(str(MODELS.name)):
            for key in metrics:
                record_materialization(instance, key, checkpoint)
        daemon.end_runs()
        began = time.process_time()
        yield Figure(
            what="     requests after all have numbers",
            value=len(daemon.tick()),
            most=0,
            exactly=True,
        )
        yield _seconds("     their tick", "checkpoint_folders", began)


def _many_models(home: Path) -> Iterator[Figure]:
    (home / "bench.toml").write_text(
        "".join(f'[models.{name}]\nkind = "scripted"\nsays = "A"\n' for name in _NAMES)
    )
    settings = load_settings(home)
    with Workbench(settings) as bench:
        bench.add_models(_NAMES)
        if failed := [result.error for result in backfill(bench, _NAMES[:1]) if result.error]:
            raise RuntimeError(failed[0])
        tasks = [task for task in bench.catalog.tasks if task.asked_of == "model"]
        numbers = [(task, number) for task in tasks for number in _copy_metrics(bench, task)]
        ran = expect(run(home, "leaderboard"))
        what = f"(18) leaderboard of {len(_NAMES)} models on {len(bench.catalog.suites)} suites"
        yield Figure(what=what, value=ran.cpu, most=_MOST_SECONDS["board"], unit="s CPU")
        ran = expect(run(home, "leaderboard"))
        yield Figure(
            what="     again", value=ran.cpu, most=_MOST_SECONDS["board again"], unit="s CPU"
        )
        now, began = CurrentConfiguration(settings), time.process_time()
        stale = [*filter(None, (now.stale_reason(*number, bench.tables) for number in numbers))]
        yield Figure(
            what="     numbers that are not current", value=len(stale), most=0, exactly=True
        )
        yield _seconds("     whether they are current", "current", began)
        began = time.process_time()
        observe_inputs(bench.catalog, bench.instance, settings, bench.tables)
        yield _seconds("     a tick of observed_inputs", "observed_inputs", began)
        graph = build_graph(settings, bench.catalog)  # of the UI: commands have no sensors
        repository = graph.definitions.get_repository_def()
        tick = partial(_tick, repository.get_sensor_def("metric_changes"), repository)
        figure, data = tick(bench.instance)
        yield figure
        task, number = numbers[-1]
        _record(bench, task, number.model, [replace(number, value=1.0)])
        figure, data = tick(bench.instance, cursor=data.cursor)
        yield replace(figure, what="     its tick after one number has changed")
        n_requests = len(data.run_requests or ())
        yield Figure(what="     its requests", value=n_requests, most=1, exactly=True)


def _copy_metrics(bench: Workbench, task: Task) -> Iterator[Metric]:
    """Write the first model's metrics as those of all models; yields a number of each."""
    rows = bench.tables.read(evaluation_key(task, "main", "metrics"), Metric, _NAMES[0])
    yield rows[0]
    for name in _NAMES[1:]:
        metrics = [replace(row, model=name) for row in rows]
        _record(bench, task, name, metrics)
        yield metrics[0]


def _record(bench: Workbench, task: Task, model: str, metrics: list[Metric]) -> None:
    """Write a table of metrics, made of what the first model's was made of."""
    key = dg.AssetKey(evaluation_key(task, "main", "metrics"))
    made, version = last_materialization(bench.instance, key), digest(metrics)
    bench.tables.write(key.path, metrics, Metric, model)
    tags = {**(made.tags if made else {}), "dagster/partition": model, DATA_VERSION: version}
    metadata = {TABLE_DIGEST: version}
    event = dg.AssetMaterialization(key, partition=model, tags=tags, metadata=metadata)
    bench.instance.report_runless_asset_event(event)


def _tick(
    sensor: dg.SensorDefinition,
    repository: dg.RepositoryDefinition,
    instance: dg.DagsterInstance,
    cursor: str | None = None,
) -> tuple[Figure, SensorExecutionData]:
    context = dg.build_sensor_context(
        instance=instance, repository_def=repository, sensor_name=sensor.name, cursor=cursor
    )
    began = time.process_time()
    data = sensor.evaluate_tick(context)
    bound = sensor.name.rstrip("_0123456789")
    return _seconds(f"     first tick of {sensor.name}", bound, began), data


def _seconds(what: str, bound: str, began: float) -> Figure:
    seconds = time.process_time() - began
    return Figure(what=what, value=seconds, most=_MOST_SECONDS[bound], unit="s CPU")


_HOMES = {
    "file benchmarks": _many_benchmarks,
    "checkpoints": _many_checkpoints,
    "models": _many_models,
}


def main(name: str, home: str) -> None:
    """Print the figures of one home as one line of JSON."""
    figures = [
        {
            "what": figure.what,
            "value": figure.value,
            "most": figure.most,
            "exactly": figure.exactly,
            "unit": figure.unit,
        }
        for figure in _HOMES[name](Path(home))
    ]
    sys.stdout.write(f"\n{json.dumps(figures)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
