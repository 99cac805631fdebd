"""Sends runs of the tiny graph, over a home with a launcher."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import dagster as dg
from dagster._cli.job import _create_run
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import ModuleTarget

_GRAPH = "tests.resources.runs.tiny_graph"

Send: TypeAlias = Callable[..., str]


@contextmanager
def instance_of(
    home: Path, launcher: Mapping[str, Any] | None = None
) -> Iterator[dg.DagsterInstance]:
    """An instance over a home, with the usual launcher or another."""
    folder = home / "dagster"
    folder.mkdir(parents=True)
    overrides = {"run_launcher": launcher} if launcher else {}
    (folder / "dagster.yaml").write_text(json.dumps({**overrides, "telemetry": {"enabled": False}}))
    with dg.DagsterInstance.from_config(str(folder)) as opened:
        yield opened


@contextmanager
def sending(instance: dg.DagsterInstance) -> Iterator[Send]:
    """Launches a run of the tiny graph with tags, and says its id."""
    with WorkspaceProcessContext(instance, ModuleTarget(_GRAPH, None, None, "tiny")) as process:

        def send(tags: dict[str, str] | None = None) -> str:
            workspace: Any = process.create_request_context()
            location = workspace.get_code_location("tiny")
            (repository,) = location.get_repositories().values()
            job = repository.get_full_job("made")
            run = _create_run(instance, location, repository, job, {}, tags, None, None)
            instance.launch_run(run.run_id, workspace)
            return str(run.run_id)

        yield send


def ended(instance: dg.DagsterInstance, run_id: str, seconds: float) -> dg.DagsterRun:
    """Wait for the end of a run."""
    until = time.monotonic() + seconds
    while not (run := instance.get_run_by_id(run_id)) or not run.is_finished:
        assert time.monotonic() < until, f"{run and run.status} after {seconds} s"
        time.sleep(0.1)
    return run


def ray_launcher(address: str) -> dict[str, Any]:
    """The entry of ``dagster.yaml``."""
    return {
        "module": "bench_resources.cluster.ray_launcher",
        "class": "RayLauncher",
        "config": {"ray": {"address": address}},
    }
