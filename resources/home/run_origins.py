"""Runs that a command makes in its own process stand where the UI looks for runs: on its timeline.

The UI shows a run there if it knows from which code location it came; Dagster knows that of runs
that were launched through a workspace, and of no others.
"""

from dagster import DagsterRun
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.tags import MAX_RETRIES_TAG

LOCATION = "bench_assets"
"""The code location, as ``workspace.yaml`` names it."""

_REPOSITORY = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin(LOCATION), "__repository__")


class Runs(SqliteRunStorage):
    """Dagster's own, in which no run is without an origin."""

    def add_run(self, dagster_run: DagsterRun) -> DagsterRun:
        """Keep a run that is to begin."""
        made_here = dagster_run.remote_job_origin is None
        return super().add_run(_placed(dagster_run) if made_here else dagster_run)


def _placed(run: DagsterRun) -> DagsterRun:
    """A run of the one code location that there is, which only a person tries again.

    With an origin, the daemon would: beside the command that the person types.
    """
    origin = RemoteJobOrigin(_REPOSITORY, run.job_name)
    return run.with_job_origin(origin).with_tags({MAX_RETRIES_TAG: "0", **run.tags})
