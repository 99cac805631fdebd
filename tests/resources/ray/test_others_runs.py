"""Runs that Ray was not sent, where it is asked about those that it was."""

import dagster as dg
import pytest
from dagster._core.launcher import WorkerStatus

from resources.home.run_processes import process_tags
from resources.ray.run_launcher import RayLauncher

pytest.importorskip("dagster_ray", reason="make cluster-check installs dagster-ray")
pytestmark = pytest.mark.long


@dg.asset
def nothing() -> None:
    """Makes nothing."""


def test_a_run_that_a_command_makes_is_not_taken_for_a_job_that_vanished() -> None:
    launcher = RayLauncher("http://127.0.0.1:9")  # where nobody answers
    job = dg.Definitions([nothing]).resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral() as instance:
        launcher.register_instance(instance)
        run_id = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED).run_id
        instance.add_run_tags(run_id, process_tags(run_id))
        run = instance.get_run_by_id(run_id)
        assert run
        assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING
        ended = launcher.check_run_worker_health(
            run.with_tags({**run.tags, "bench/process": process_tags(run_id)["bench/process"]
                           .replace('"pid": ', '"pid": 9')})
        )  # fmt: skip
        assert ended.status == WorkerStatus.FAILED
