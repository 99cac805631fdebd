"""Runs as jobs of Slurm: sent, seen, ended, and those that never begin."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

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
def instance(
    slurm: SlurmCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dg.DagsterInstance]:
    (tmp_path / "bench.toml").write_text(_TOML + slurm.toml)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "dagster"))
    monkeypatch.setenv("NOWHERE", "postgresql://nowhere/none")
    with instance_of(tmp_path, LAUNCHER) as opened:
        yield opened


@pytest.fixture
def send(instance: dg.DagsterInstance) -> Iterator[Launch]:
    with sending(instance) as sends:
        yield sends


def launcher_of(instance: dg.DagsterInstance) -> SlurmLauncher:
    launcher = instance.run_launcher
    assert isinstance(launcher, SlurmLauncher)
    return launcher


def run_of(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRun:
    run = instance.get_run_by_id(run_id)
    assert run
    return run


def begun(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRun:
    until = time.monotonic() + 120
    while (run := run_of(instance, run_id)).status != dg.DagsterRunStatus.STARTED:
        assert time.monotonic() < until, run.status
        time.sleep(0.1)
    return run


def test_a_job_has_what_its_model_needs(
    slurm: SlurmCluster, instance: dg.DagsterInstance, send: Launch
) -> None:
    run = run_of(instance, send({"dagster/partition": "wide"}))
    job = slurm.output("scontrol", "show", "job", run.tags[JOB])
    assert "gpu:1" in job
    assert "Partition=all" in job
    assert "TimeLimit=01:00:00" in job
    assert wait_for_end(instance, run.run_id, 120).status == dg.DagsterRunStatus.SUCCESS


def test_a_run_is_cancelled_while_it_waits(
    slurm: SlurmCluster, instance: dg.DagsterInstance, send: Launch
) -> None:
    slurm.output("scontrol", "update", "NodeName=n[1-2]", "State=DRAIN", "Reason=test")
    try:
        run = run_of(instance, send())
        health = launcher_of(instance).check_run_worker_health(run)
        assert health.status == WorkerStatus.RUNNING
        assert (health.msg or "").startswith("PENDING")
        assert end_orphaned_runs(instance) == []
        assert launcher_of(instance).terminate(run.run_id)
        assert run_of(instance, run.run_id).status == dg.DagsterRunStatus.CANCELED
        removed = run_of(instance, send())
        slurm.output("scancel", removed.tags[JOB])  # by somebody else
        assert end_orphaned_runs(instance) == [f"run {removed.run_id[:8]}"]
        assert run_of(instance, removed.run_id).status == dg.DagsterRunStatus.FAILURE
    finally:
        slurm.output("scontrol", "update", "NodeName=n[1-2]", "State=RESUME")


def test_a_process_that_is_killed_is_no_healthy_run(
    slurm: SlurmCluster, instance: dg.DagsterInstance, send: Launch
) -> None:
    run = begun(instance, send({"seconds": "300"}))
    _, first = slurm.output("scontrol", "listpids", run.tags[JOB]).splitlines()[:2]
    os.kill(int(first.split()[0]), signal.SIGKILL)
    until = time.monotonic() + 60
    while True:
        health = launcher_of(instance).check_run_worker_health(run)
        if health.status == WorkerStatus.FAILED:
            break
        assert time.monotonic() < until, health
        time.sleep(0.5)


def test_a_controller_that_is_away_ends_no_run(
    slurm: SlurmCluster, instance: dg.DagsterInstance, send: Launch
) -> None:
    run = begun(instance, send({"seconds": "20"}))
    slurm.stop_controller()
    try:
        health = launcher_of(instance).check_run_worker_health(run)
        assert health.status == WorkerStatus.RUNNING
    finally:
        slurm.start_controller()
    assert wait_for_end(instance, run.run_id, 120).status == dg.DagsterRunStatus.SUCCESS
