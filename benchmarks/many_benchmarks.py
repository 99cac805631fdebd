"""Homes with 120 file benchmarks, with 300 watched checkpoints, and with 300 models."""

import gc
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from time import process_time

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
from benchmarks.figures import Figure, run_bench, run_command
from tests.fakes.checkpoint_files import write_checkpoint
from tests.sensors.watched import (
    TABLES,
    Daemon,
    record_materialization,
    record_question_tables,
    watch_runs,
)

_N_BENCHMARKS, _N_CHECKPOINTS, _N_ROWS = 120, 300, 5
_MODEL_NAMES = [f"m{number:03}" for number in range(300)]
_MAX_CPU_SECONDS = {
    "load": 10.0,
    "snapshot": 15.0,
    "metric_changes": 10.0,
    "question_changes": 30.0,
    "checkpoint_folders": 20.0,
    "first leaderboard": 25.0,
    "second leaderboard": 12.0,
    "staleness": 2.0,
    "observed_inputs": 5.0,
}
"""Bounds; Dagster ends a tick after 60 seconds."""


def measure(folder: Path) -> list[Figure]:
    """Measure each home in a new process."""
    figures = []
    for name in _HOMES:
        home = folder / name
        home.mkdir()
        run = run_command(home, sys.executable, "-m", "benchmarks.many_benchmarks", name, str(home))
        (line,) = (line for line in run.output.splitlines() if line.startswith("[{"))
        figures += [Figure(**fields) for fields in json.loads(line)]
    return figures


def _measure_benchmarks(home: Path) -> Iterator[Figure]:
    for number in range(_N_BENCHMARKS):
        rows = (
            {"question": f"What is {row} + {number}?", "answer": str(row + number)}
            for row in range(_N_ROWS)
        )
        (home / f"b{number}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (home / "bench.toml").write_text(
        "".join(f'[benchmarks.b{n}]\nfile = "b{n}.jsonl"\n' for n in range(_N_BENCHMARKS))
    )
    gc.disable()  # as bench_assets.definitions does
    started = process_time()
    settings = load_settings(home)
    graph = build_graph(settings, load_catalog(settings))
    repository = graph.definitions.get_repository_def()
    asset_graph = repository.asset_graph
    gc.enable()
    yield _build_figure(f"load {_N_BENCHMARKS} file benchmarks", "load", started)
    n_suites, n_assets = len(graph.catalog.suites), len(asset_graph.get_all_asset_keys())
    yield Figure(f"    assets of {n_suites} suites", n_assets)
    yield Figure("    asset checks", len(asset_graph.asset_check_keys))
    started = process_time()
    RepositorySnap.from_def(repository)
    yield _build_figure("    snapshot for the UI", "snapshot", started)
    with open_instance(home, settings) as instance:
        instance.add_dynamic_partitions(str(MODELS.name), ["random", "most-frequent"])
        for sensor in repository.sensor_defs:
            if sensor.name.startswith(("metric_changes", "question_changes")):
                started = process_time()
                _tick(sensor, repository, instance)
                bound = sensor.name.rstrip("_0123456789")
                yield _build_figure(f"    first tick of {sensor.name}", bound, started)


def _measure_checkpoints(home: Path) -> Iterator[Figure]:
    settings = watch_runs(home, suites=json.dumps([*TABLES]))
    for number in range(_N_CHECKPOINTS):
        write_checkpoint(home.parent / "runs" / "a" / f"step-{number}", f"{number:04}".encode())
    with open_instance(home, settings) as instance:
        daemon = Daemon(settings, record_question_tables(instance))
        started = process_time()
        n_requests = 0
        while run_keys := daemon.tick():  # at most 100
            n_requests += len(run_keys)
        title = f"run requests for {_N_CHECKPOINTS} checkpoints on {len(TABLES)} suites"
        yield Figure(title, n_requests, exactly=_N_CHECKPOINTS)
        yield _build_figure("    ticks of checkpoint_folders", "checkpoint_folders", started)
        metrics = [key for tables in TABLES.values() for key in tables.metrics]
        for checkpoint in instance.get_dynamic_partitions(str(MODELS.name)):
            for key in metrics:
                record_materialization(instance, key, checkpoint)
        daemon.end_runs()
        started = process_time()
        n_requests = len(daemon.tick())
        yield Figure("    run requests once all are evaluated", n_requests, exactly=0)
        yield _build_figure("    tick of checkpoint_folders", "checkpoint_folders", started)


def _measure_models(home: Path) -> Iterator[Figure]:
    (home / "bench.toml").write_text(
        "".join(f'[models.{name}]\nkind = "scripted"\nsays = "A"\n' for name in _MODEL_NAMES)
    )
    settings = load_settings(home)
    with Workbench(settings) as bench:
        bench.add_models(_MODEL_NAMES)
        if errors := [result.error for result in backfill(bench, _MODEL_NAMES[:1]) if result.error]:
            raise RuntimeError(errors[0])
        tasks = [task for task in bench.catalog.tasks if task.asked_of == "model"]
        rows = [(task, row) for task in tasks for row in _copy_metrics(bench, task)]
        n_suites = len(bench.catalog.suites)
        title = f"of {len(_MODEL_NAMES)} models on {n_suites} suites: CPU"
        for name in ("first leaderboard", "second leaderboard"):
            cpu_seconds, bound = run_bench(home, "leaderboard").cpu_seconds, _MAX_CPU_SECONDS[name]
            yield Figure(f"{name} {title}", cpu_seconds, at_most=bound, unit="s")
        configuration = CurrentConfiguration(settings)
        started = process_time()
        n_stale = sum(
            configuration.stale_reason(task, row, bench.tables) != "" for task, row in rows
        )
        yield Figure("    stale metrics", n_stale, exactly=0)
        yield _build_figure(f"    staleness of {len(rows):,} metrics", "staleness", started)
        started = process_time()
        observe_inputs(bench.catalog, bench.instance, settings, bench.tables)
        yield _build_figure("    tick of observed_inputs", "observed_inputs", started)
        graph = build_graph(settings, bench.catalog)  # bench.definitions has no sensors
        repository = graph.definitions.get_repository_def()
        sensor = repository.get_sensor_def("metric_changes")
        started = process_time()
        cursor = _tick(sensor, repository, bench.instance).cursor
        yield _build_figure("    first tick of metric_changes", "metric_changes", started)
        task, row = rows[-1]
        _record_metrics(bench, task, row.model, [replace(row, value=1.0)])
        started = process_time()
        tick = _tick(sensor, repository, bench.instance, cursor)
        yield _build_figure("    tick after the change of one metric", "metric_changes", started)
        yield Figure("    its run requests", len(tick.run_requests or ()), exactly=1)


def _copy_metrics(bench: Workbench, task: Task) -> Iterator[Metric]:
    """Record the first model's metrics as those of the others; yield one metric of each model."""
    rows = bench.tables.read(evaluation_key(task, "main", "metrics"), Metric, _MODEL_NAMES[0])
    yield rows[0]
    for name in _MODEL_NAMES[1:]:
        metrics = [replace(row, model=name) for row in rows]
        _record_metrics(bench, task, name, metrics)
        yield metrics[0]


def _record_metrics(bench: Workbench, task: Task, model: str, metrics: list[Metric]) -> None:
    """Write a table of metrics and its materialization, with the tags of the last one."""
    key = dg.AssetKey(evaluation_key(task, "main", "metrics"))
    last, version = last_materialization(bench.instance, key), digest(metrics)
    bench.tables.write(key.path, metrics, Metric, model)
    tags = {**(last.tags if last else {}), "dagster/partition": model, DATA_VERSION: version}
    metadata = {TABLE_DIGEST: version}
    event = dg.AssetMaterialization(key, partition=model, tags=tags, metadata=metadata)
    bench.instance.report_runless_asset_event(event)


def _tick(
    sensor: dg.SensorDefinition,
    repository: dg.RepositoryDefinition,
    instance: dg.DagsterInstance,
    cursor: str | None = None,
) -> SensorExecutionData:
    context = dg.build_sensor_context(
        instance=instance, repository_def=repository, sensor_name=sensor.name, cursor=cursor
    )
    return sensor.evaluate_tick(context)


def _build_figure(title: str, bound: str, started: float) -> Figure:
    """CPU seconds since a process time, with a bound of ``_MAX_CPU_SECONDS``."""
    cpu_seconds = process_time() - started
    return Figure(f"{title}: CPU", cpu_seconds, at_most=_MAX_CPU_SECONDS[bound], unit="s")


_HOMES = {
    "benchmarks": _measure_benchmarks,
    "checkpoints": _measure_checkpoints,
    "models": _measure_models,
}


def main(name: str, home: str) -> None:
    """Print the figures of a home as one line of JSON."""
    figures = [asdict(figure) for figure in _HOMES[name](Path(home))]
    sys.stdout.write(f"\n{json.dumps(figures)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
