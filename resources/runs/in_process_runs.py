"""Runs that a command makes in its own process stand where the UI looks for runs: on its timeline.

The UI shows a run there if it knows from which code location it came; Dagster knows that of runs
that were launched through a workspace, and of no others. Here a run also learns which pool it is
to hold, where that depends on its model.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from dagster import DagsterRun
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.storage.dagster_run import RunOpConcurrency
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage

MAX_RETRIES_TAG, PARTITION_NAME_TAG = "dagster/max_retries", "dagster/partition"


LOCATION = "bench_assets"
"""The code location, as ``workspace.yaml`` names it."""

_REPOSITORY = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), "__repository__")


_WEIGHTS = "gpu"  # the pool that assets name: of whatever asks a model


class OriginRunStorage(SqliteRunStorage):
    """Dagster's own, in which no run is without an origin."""

    def __init__(self, conn_string: str, pool_of: Mapping[str, str] | None = None) -> None:
        super().__init__(conn_string)
        self._pool_of = pool_of or {}

    def add_run(self, dagster_run: DagsterRun) -> DagsterRun:
        """Keep a run that is to begin."""
        return super().add_run(with_origin(dagster_run, self._pool_of))


def with_origin(run: DagsterRun, pool_of: Mapping[str, str]) -> DagsterRun:
    """A run as it is to be recorded: with an origin, in the pool of its model.

    Args:
        run: One that is to begin.
        pool_of: Model, or pattern of models -> the pool that its runs hold instead of ``gpu``;
            the longest pattern counts.
    """
    run = _with_location_origin(run) if run.remote_job_origin is None else run
    model = run.tags.get(PARTITION_NAME_TAG, "")
    fits = [named for named in pool_of if fnmatchcase(model, named)]
    pool = pool_of[max(fits, key=len)] if fits else _WEIGHTS  # Dagster sorts what it is told
    held = run.run_op_concurrency
    if pool == _WEIGHTS or not model or held is None:
        return run
    counts = {_replace_pool(name, pool): n for name, n in held.root_key_counts.items()}
    pools = {_replace_pool(name, pool) for name in held.all_pools or ()}
    changed = RunOpConcurrency(
        root_key_counts=counts,
        has_unconstrained_root_nodes=held.has_unconstrained_root_nodes,
        all_pools=pools,
    )
    return run._replace(run_op_concurrency=changed)


def _replace_pool(name: str, pool: str) -> str:
    return pool if name == _WEIGHTS else name


def _with_location_origin(run: DagsterRun) -> DagsterRun:
    """A run of the one code location that there is, which only a person tries again.

    With an origin, the daemon would: beside the command that the person types.
    """
    origin = RemoteJobOrigin(_REPOSITORY, run.job_name)
    return run.with_job_origin(origin).with_tags({MAX_RETRIES_TAG: "0", **run.tags})
