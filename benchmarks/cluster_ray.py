"""What Ray costs beside what it runs: a run as a job of its, a request to a replica."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter

from bench_assets.core.schema.chat import Prompt, Request
from bench_resources.models.transformers.engine import TransformersEngine
from bench_resources.models.workers.ray_replicas import RayEngine
from bench_resources.response_cache.engine import Engine
from benchmarks.figures import Figure
from tests.ray_cluster import RayCluster, ray_cluster
from tests.resources.models.transformers import fragile
from tests.resources.models.transformers.tiny_engine import ALBUM, spec_of
from tests.resources.runs.sending import ended, instance_of, ray_launcher, sending
from tests.tiny_checkpoint import save_tiny_language_model

_REQUESTS = 4_000
_RUNS = 3
_PATIENCE = 180.0  # s for a run


def measure(folder: Path) -> list[Figure]:
    """Start a cluster of two nodes, and measure what it adds; skipped without Ray."""
    with ray_cluster() as cluster, _reached(cluster):
        return [*_of_requests(folder), *_of_runs(folder, cluster)]


def _of_requests(folder: Path) -> list[Figure]:
    """A model that answers at once: what is left is the way there and back."""
    checkpoint = save_tiny_language_model(folder / "model")
    spec = spec_of(checkpoint, on="ray", replicas=2)
    here = TransformersEngine(spec, str(checkpoint), ALBUM.read, fragile.load)
    one = _seconds(here)
    with closing(RayEngine(here, spec)) as engine:
        first, then = _seconds(engine), _seconds(engine)
    return [
        Figure(what="two replicas on Ray: until all have answered once", value=first, unit="s"),
        Figure(
            what="    a request more than in one process, once they are there",
            value=(then - one) / _REQUESTS * 1e3,
            most=5.0,
            unit="ms",
        ),
    ]


def _seconds(engine: Engine) -> float:
    requests = [Request(prompt=Prompt.of(f"question {n}")) for n in range(_REQUESTS)]
    started = perf_counter()
    assert sum(not response.error for _, response in engine.stream(requests)) == _REQUESTS
    return perf_counter() - started


def _of_runs(folder: Path, cluster: RayCluster) -> list[Figure]:
    """A run of one step that does nothing, by each launcher."""
    figures = []
    for name, launcher in (("local", None), ("ray", ray_launcher(cluster.jobs_address))):
        with instance_of(folder / name, launcher) as instance, sending(instance) as send:
            each = []
            for _ in range(_RUNS):
                started = perf_counter()
                ended(instance, send(), _PATIENCE)
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
        import ray

        ray.shutdown()
        os.environ.clear()
        os.environ.update(before)
