import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from bench_resources.runs.dagster_names import WorkerStatus
from bench_resources.runs.orphaned_runs import (
    MonitoredRunLauncher,
    end_orphaned_runs,
    guard_run,
)
from bench_resources.storage.process_identity import ProcessIdentity, start_ticks, this_process
from tests.conftest import CHECKOUT
from tests.resources.runs.tiny_graph import guarded

STARTED = dg.DagsterRunStatus.STARTED
FAILED = dg.DagsterRunStatus.FAILURE
START_TIMEOUT = 300  # s, start_timeout_seconds of dagster.yaml


@pytest.fixture
def instance(tmp_path):
    folder = tmp_path / "home" / "dagster"
    folder.mkdir(parents=True)
    (folder / "dagster.yaml").write_text((CHECKOUT / "dagster.yaml").read_text())
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        yield instance


@pytest.fixture(scope="module")
def ended_process():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    own_process, started = this_process(), start_ticks(child.pid)
    assert own_process
    assert started
    process = replace(own_process, pid=child.pid, started=started)
    child.kill()
    child.communicate()
    return process


@dg.asset
def nothing() -> None: ...


def add_run(instance, tags=None):
    job = dg.Definitions([nothing]).resolve_implicit_global_asset_job_def()
    run = instance.create_run_for_job(job, status=STARTED)
    tags = {".dagster/bench_process_of": run.run_id, **(tags or {})}
    instance.add_run_tags(run.run_id, tags)
    return run.run_id


def process_tag(process, **changes):
    """The tag of a run of a process, with fields of its identity replaced."""
    return {".dagster/bench_process": str(replace(process, **changes))}


@pytest.mark.parametrize(
    ("changes", "expected_status", "n_described"),
    [
        pytest.param({}, FAILED, 1, id="a killed process"),
        pytest.param({"host": "elsewhere"}, STARTED, 0, id="a process of another machine"),
    ],
)
def test_a_run_fails_if_its_process_has_certainly_ended(
    instance, ended_process, changes, expected_status, n_described
):
    run_id = add_run(instance, process_tag(ended_process, **changes))
    descriptions = end_orphaned_runs(instance)
    assert instance.get_run_by_id(run_id).status == expected_status
    assert descriptions == [f"run {run_id[:8]}"] * n_described
    assert end_orphaned_runs(instance) == []


def test_a_run_whose_process_may_be_alive_goes_on(instance):
    living = add_run(instance, process_tag(this_process()))
    unknown = add_run(instance)  # of a version that did not name processes
    assert end_orphaned_runs(instance) == []
    assert {instance.get_run_by_id(run_id).status for run_id in (living, unknown)} == {STARTED}


def test_the_launcher_reports_the_health_of_the_process(instance, ended_process):
    launcher = instance.run_launcher
    assert isinstance(launcher, MonitoredRunLauncher)
    assert launcher.supports_check_run_worker_health
    ended = add_run(instance, process_tag(ended_process))
    living = add_run(instance, process_tag(this_process()))
    statuses = {
        run_id: launcher.check_run_worker_health(instance.get_run_by_id(run_id)).status
        for run_id in (ended, living)
    }
    assert statuses == {ended: WorkerStatus.FAILED, living: WorkerStatus.RUNNING}


@pytest.mark.parametrize(
    ("seconds", "expected_status"),
    [
        pytest.param(0, STARTED, id="just started"),
        pytest.param(START_TIMEOUT + 1, FAILED, id="longer ago than a run may take to start"),
    ],
)
def test_a_run_killed_before_it_recorded_its_process_fails_after_the_timeout(
    instance, monkeypatch, seconds, expected_status
):
    run_id = add_run(
        instance, {".dagster/bench_launched_on": str(this_process()), ".dagster/bench_process": ""}
    )
    run = instance.get_run_by_id(run_id)
    instance.report_dagster_event(dg.DagsterEvent("PIPELINE_START", run.job_name), run_id)
    now = time.time() + seconds
    monkeypatch.setattr(time, "time", lambda: now)
    end_orphaned_runs(instance)
    assert instance.get_run_by_id(run_id).status == expected_status


@dg.op(required_resource_keys={"guard"})
def codis__predictions(context: dg.OpExecutionContext) -> None:
    """Fail unless the run names this process, and its locks are there."""
    run = context.instance.get_run_by_id(context.run_id)
    assert run
    assert ProcessIdentity.parse(run.tags[".dagster/bench_process"]) == this_process()
    folder = Path(context.instance.root_directory).parent / "locks"
    assert len(list(folder.iterdir())) == 2  # of the run, and of the model on codis


@dg.job(executor_def=dg.in_process_executor, resource_defs={"guard": guarded})
def evaluation() -> None:
    """As Dagster runs the graph's jobs, in a process of its own."""
    codis__predictions()


def test_a_run_records_its_process_and_locks_its_tables(instance, tmp_path):
    job = dg.reconstructable(evaluation)
    with dg.execute_job(job, instance, tags={"dagster/partition": "m"}) as result:
        assert result.success  # as codis__predictions checks
    # The run's own lock file is deleted; that of the tables stays.
    assert len(list((tmp_path / "home" / "locks").iterdir())) == 1


def test_a_run_that_fails_leaves_no_lock_file_of_its_own(instance, tmp_path):
    run = instance.get_run_by_id(add_run(instance))
    with pytest.raises(RuntimeError, match="no memory"), guard_run(instance, run):
        raise RuntimeError("no memory")
    assert list((tmp_path / "home" / "locks").iterdir()) == []
