from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg
from dagster._core.launcher import RunLauncher

from bench_resources.runs.orphaned_runs import process_tags


@dg.asset
def nothing() -> None:
    """An asset without a value."""


@contextmanager
def started_run(launcher: RunLauncher) -> Iterator[dg.DagsterRun]:
    """A run of this process that has started, in an instance with the launcher."""
    job = dg.Definitions([nothing]).resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        launcher.register_instance(instance)
        run_id = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED).run_id
        instance.add_run_tags(run_id, process_tags(run_id))
        run = instance.get_run_by_id(run_id)
        assert run
        yield run
