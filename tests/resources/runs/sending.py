import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import dagster as dg
from dagster._cli.job import _create_run
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import ModuleTarget

_GRAPH = "tests.resources.runs.tiny_graph"

Launch: TypeAlias = Callable[..., str]


@contextmanager
def instance_of(home, launcher=None):
    """Open an instance in a home, with Dagster's default run launcher or another."""
    folder = home / "dagster"
    folder.mkdir(parents=True)
    overrides = {"run_launcher": launcher} if launcher else {}
    (folder / "dagster.yaml").write_text(json.dumps({**overrides, "telemetry": {"enabled": False}}))
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        yield instance


@contextmanager
def sending(instance: dg.DagsterInstance) -> Iterator[Launch]:
    """Yield a function that launches a run of the tiny graph with tags, and returns its id."""
    with WorkspaceProcessContext(instance, ModuleTarget(_GRAPH, None, None, "tiny")) as process:

        def launch(tags: dict[str, str] | None = None) -> str:
            workspace: Any = process.create_request_context()
            location = workspace.get_code_location("tiny")
            (repository,) = location.get_repositories().values()
            job = repository.get_full_job("made")
            run = _create_run(instance, location, repository, job, {}, tags, None, None)
            instance.launch_run(run.run_id, workspace)
            return str(run.run_id)

        yield launch


def wait_for_end(instance: dg.DagsterInstance, run_id: str, seconds: float) -> dg.DagsterRun:
    """Wait at most some seconds for the end of a run, and return it."""
    deadline = time.monotonic() + seconds
    while True:
        run = instance.get_run_by_id(run_id)
        if run and run.is_finished:
            return run
        assert time.monotonic() < deadline, f"{run and run.status} after {seconds} s"
        time.sleep(0.1)


def ray_launcher(address: str) -> dict[str, Any]:
    """The entry of ``dagster.yaml``."""
    return {
        "module": "bench_resources.cluster.ray_launcher",
        "class": "RayLauncher",
        "config": {"ray": {"address": address}},
    }
