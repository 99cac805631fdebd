import os
import signal
import time
from collections.abc import Iterator

import dagster as dg
import pytest

from bench_resources.cluster.slurm_launcher import JOB, SlurmLauncher
from bench_resources.runs.dagster_names import WorkerStatus
from bench_resources.runs.orphaned_runs import end_orphaned_runs
from tests.fakes.slurm_cluster import SlurmCluster, slurm_cluster
from tests.resources.runs.sending import Launch, instance_of, sending, wait_for_end

pytestmark = pytest.mark.long
LAUNCHER = {
    "module": "bench_resources.cluster.slurm_launcher",
    "class": "SlurmLauncher",
    "config": {},
}
_TOML = """
[models.wide]
kind = "transformers"
path = "weights"
device = "cuda"
[models.impossible]
kind = "vllm"
path = "weights"
tensor_parallel_size = 2
[storage]
database = "env:NOWHERE"
objects = "file:///nowhere"
"""


@pytest.fixture(scope="module")
def slurm() -> Iterator[SlurmCluster]:
    with slurm_cluster() as cluster:
        yield cluster


@pytest.fixture
def instance(slurm, tmp_path, monkeypatch):
    (tmp_path / "bench.toml").write_text(_TOML + slurm.toml)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    monkeypatch.setenv("NOWHERE", "postgresql://nowhere/none")
    with instance_of(tmp_path, LAUNCHER) as instance:
        yield instance


@pytest.fixture
def send(instance: dg.DagsterInstance) -> Iterator[Launch]:
    with sending(instance) as launch:
        yield launch


def launcher_of(instance: dg.DagsterInstance) -> SlurmLauncher:
    launcher = instance.run_launcher
    assert isinstance(launcher, SlurmLauncher)
    return launcher


def run_of(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRun:
    run = instance.get_run_by_id(run_id)
    assert run
    return run


def wait_for_start(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRun:
    deadline = time.monotonic() + 120
    run = run_of(instance, run_id)
    while run.status != dg.DagsterRunStatus.STARTED:
        assert time.monotonic() < deadline, run.status
        time.sleep(0.1)
        run = run_of(instance, run_id)
    return run


def test_a_job_has_the_resources_of_its_model(slurm, instance, send):
    run = run_of(instance, send({"dagster/partition": "wide"}))
    job = slurm.output("scontrol", "show", "job", run.tags[JOB])
    assert "gpu:1" in job
    assert "Partition=all" in job
    assert "TimeLimit=01:00:00" in job
    assert wait_for_end(instance, run.run_id, 120).status == dg.DagsterRunStatus.SUCCESS


@pytest.fixture
def drained_nodes(slurm: SlurmCluster) -> Iterator[None]:
    """Let no job start."""
    slurm.output("scontrol", "update", "NodeName=n[1-2]", "State=DRAIN", "Reason=test")
    yield
    slurm.output("scontrol", "update", "NodeName=n[1-2]", "State=RESUME")


@pytest.mark.usefixtures("drained_nodes")
def test_a_waiting_run_is_healthy_and_can_be_cancelled(instance, send):
    run = run_of(instance, send())
    health = launcher_of(instance).check_run_worker_health(run)
    assert health.status == WorkerStatus.RUNNING
    assert (health.msg or "").startswith("PENDING")
    assert end_orphaned_runs(instance) == []
    assert launcher_of(instance).terminate(run.run_id)
    assert run_of(instance, run.run_id).status == dg.DagsterRunStatus.CANCELED


@pytest.mark.usefixtures("drained_nodes")
def test_a_run_whose_job_somebody_else_cancelled_fails(slurm, instance, send):
    run = run_of(instance, send())
    slurm.output("scancel", run.tags[JOB])
    assert end_orphaned_runs(instance) == [f"run {run.run_id[:8]}"]
    assert run_of(instance, run.run_id).status == dg.DagsterRunStatus.FAILURE


def test_a_run_whose_process_was_killed_is_unhealthy(slurm, instance, send):
    run = wait_for_start(instance, send({"seconds": "300"}))
    _header, process_line, *_ = slurm.output("scontrol", "listpids", run.tags[JOB]).splitlines()
    pid, *_ = process_line.split()
    os.kill(int(pid), signal.SIGKILL)
    deadline = time.monotonic() + 60
    health = launcher_of(instance).check_run_worker_health(run)
    while health.status != WorkerStatus.FAILED:
        assert time.monotonic() < deadline, health
        time.sleep(0.5)
        health = launcher_of(instance).check_run_worker_health(run)


def test_a_run_is_healthy_while_the_controller_is_down(slurm, instance, send):
    run = wait_for_start(instance, send({"seconds": "20"}))
    slurm.stop_controller()
    try:
        health = launcher_of(instance).check_run_worker_health(run)
        assert health.status == WorkerStatus.RUNNING
    finally:
        slurm.start_controller()
    assert wait_for_end(instance, run.run_id, 120).status == dg.DagsterRunStatus.SUCCESS
