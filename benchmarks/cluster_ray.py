"""What Ray costs beside what it runs: a run as a job of its."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from benchmarks.figures import Figure
from tests.fakes.ray_cluster import RayCluster, ray_cluster
from tests.resources.runs.sending import instance_of, ray_launcher, sending, wait_for_end

_RUNS = 3
_PATIENCE = 180.0  # s for a run


def measure(folder: Path) -> list[Figure]:
    """Start a cluster of two nodes, and measure what it adds; skipped without Ray."""
    with ray_cluster() as cluster, _reached(cluster):
        return _of_runs(folder, cluster)


def _of_runs(folder: Path, cluster: RayCluster) -> list[Figure]:
    """A run of one step that does nothing, by each launcher."""
    figures = []
    for name, launcher in (("local", None), ("ray", ray_launcher(cluster.jobs_address))):
        with instance_of(folder / name, launcher) as instance, sending(instance) as send:
            each = []
            for _ in range(_RUNS):
                started = perf_counter()
                wait_for_end(instance, send(), _PATIENCE)
                each.append(perf_counter() - started)
        figures.append(Figure(what=f"an empty run, launcher {name}", value=min(each), unit="s"))
    return figures


@contextmanager
def _reached(cluster: RayCluster) -> Iterator[None]:
    """With what it takes to reach a cluster in the environment."""
    before = dict(os.environ)
    os.environ.update(cluster.variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
