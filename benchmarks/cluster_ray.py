"""An empty run by Dagster's default launcher, and as a job of a Ray cluster."""

import os
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

from benchmarks.figures import Figure
from tests.fakes.ray_cluster import ray_cluster
from tests.resources.runs.sending import instance_of, ray_launcher, sending, wait_for_end

_N_RUNS = 3
_MAX_SECONDS = 180.0  # for a run


def measure(folder: Path) -> list[Figure]:
    """Start a cluster of two nodes, and launch runs with both launchers; skipped without Ray."""
    with ray_cluster() as cluster, patch.dict(os.environ, cluster.variables):
        return [
            _measure_launcher("local", folder, None),
            _measure_launcher("ray", folder, ray_launcher(cluster.jobs_address)),
        ]


def _measure_launcher(name: str, folder: Path, launcher: dict[str, Any] | None) -> Figure:
    """Launch runs of one step one after another, and take the shortest."""
    times = []
    with instance_of(folder / name, launcher) as instance, sending(instance) as launch:
        for _ in range(_N_RUNS):
            started = perf_counter()
            wait_for_end(instance, launch(), _MAX_SECONDS)
            times.append(perf_counter() - started)
    return Figure(f"an empty run, launcher {name}", min(times), unit="s")
