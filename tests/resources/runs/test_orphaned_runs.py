"""Runs whose process is gone end, and no others."""

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
    process_tags,
)
from bench_resources.storage.process_identity import ProcessIdentity, start_ticks, this_process
from tests.conftest import CHECKOUT
from tests.resources.runs.tiny_graph import guarded

STARTED = dg.DagsterRunStatus.STARTED
OVER = dg.DagsterRunStatus.FAILURE


@pytest.fixture
def instance(tmp_path):
    folder = tmp_path / "home" / "dagster"
    folder.mkdir(parents=True)
    (folder / "dagster.yaml").write_text((CHECKOUT / "dagster.yaml").read_text())
    with dg.DagsterInstance.from_config(str(folder)) as opened:
        yield opened


@pytest.fixture(scope="module")
def dead():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    own_process, started = this_process(), start_ticks(child.pid)
    assert own_process
    assert started
    process = replace(own_process, pid=child.pid, started=started)
    child.kill()
    child.communicate()
    return process


@dg.asset
def nothing() -> None:
    """Makes nothing."""


def add_run(instance, tags=None, status=STARTED, of=""):
    """A run in the pool of GPUs that Dagster believes goes on."""
    job = dg.Definitions([nothing]).resolve_implicit_global_asset_job_def()
    run = instance.create_run_for_job(job, status=status)
    instance.add_run_tags(
        run.run_id, {".dagster/bench_process_of": of or run.run_id, **(tags or {})}
    )
    return run.run_id


def named(process, **changed):
    return {".dagster/bench_process": str(replace(process, **changed))}


@pytest.mark.parametrize(
    ("changed", "after"),
    [
        pytest.param({}, OVER, id="a killed process"),
        pytest.param({"host": "elsewhere"}, STARTED, id="a process of another machine"),
    ],
)
def test_a_run_ends_if_its_process_is_gone_for_certain(instance, dead, changed, after):
    run_id = add_run(instance, named(dead, **changed))
    ended = end_orphaned_runs(instance)
    assert instance.get_run_by_id(run_id).status == after
    assert ended == ([f"run {run_id[:8]}"] if after == OVER else [])
    assert end_orphaned_runs(instance) == []


def test_a_run_that_lives_is_left_alone(instance):
    living = add_run(instance, {".dagster/bench_process": str(this_process())})
    unknown = add_run(instance)  # of a version that did not name processes
    assert end_orphaned_runs(instance) == []
    assert {instance.get_run_by_id(one).status for one in (living, unknown)} == {STARTED}


def test_the_daemon_asks_the_launcher(instance, dead):
    launcher = instance.run_launcher
    assert isinstance(launcher, MonitoredRunLauncher)
    assert launcher.supports_check_run_worker_health
    gone, living = add_run(instance, named(dead)), add_run(instance, process_tags(""))
    statuses = {
        run_id: launcher.check_run_worker_health(instance.get_run_by_id(run_id)).status
        for run_id in (gone, living)
    }
    assert statuses == {gone: WorkerStatus.FAILED, living: WorkerStatus.RUNNING}


@pytest.mark.parametrize(
    ("seconds", "after"),
    [
        pytest.param(0, STARTED, id="milliseconds ago"),
        pytest.param(301, OVER, id="longer ago than a run may take to start"),
    ],
)
def test_a_run_killed_before_it_could_name_its_process_ends_in_time(
    instance, monkeypatch, seconds, after
):
    run_id = add_run(
        instance, {".dagster/bench_launched_on": str(this_process()), ".dagster/bench_process": ""}
    )
    start = instance.get_run_by_id(run_id)
    instance.report_dagster_event(dg.DagsterEvent("PIPELINE_START", start.job_name), run_id)
    now = time.time() + seconds
    monkeypatch.setattr(time, "time", lambda: now)
    end_orphaned_runs(instance)
    assert instance.get_run_by_id(run_id).status == after


@dg.op(required_resource_keys={"guard"})
def codis__predictions(context: dg.OpExecutionContext) -> None:
    """Fails unless its run names this process, which holds the locks."""
    run = context.instance.get_run_by_id(context.run_id)
    assert run
    assert ProcessIdentity.parse(run.tags[".dagster/bench_process"]) == this_process()
    folder = Path(context.instance.root_directory).parent / "locks"
    assert len(list(folder.iterdir())) == 2  # of the run, and of the model on codis


@dg.job(executor_def=dg.in_process_executor, resource_defs={"guard": guarded})
def evaluation() -> None:
    """As Dagster runs the graph's jobs, in a process of its own."""
    codis__predictions()


def test_a_run_names_its_process_and_locks_its_tables(instance, tmp_path):
    whole = dg.reconstructable(evaluation)
    with dg.execute_job(whole, instance, tags={"dagster/partition": "m"}) as result:
        assert result.success
    assert len(list((tmp_path / "home" / "locks").iterdir())) == 1  # none for each run there was
