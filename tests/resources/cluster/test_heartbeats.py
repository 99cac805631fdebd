import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_resources.cluster.heartbeats import Heartbeats
from bench_resources.runs.dagster_instance import HomeInstance
from bench_resources.runs.orphaned_runs import end_orphaned_runs
from bench_resources.storage.process_identity import this_process
from tests.conftest import CHECKOUT
from tests.fakes.postgres_server import postgres
from tests.resources.runs.test_orphaned_runs import nothing

pytest.importorskip("psycopg", reason="make cluster-check installs psycopg")
pytest.importorskip("dagster_postgres", reason="make cluster-check installs dagster-postgres")
pytestmark = pytest.mark.long

STARTED, FAILED = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.FAILURE
KEEP_ALIVE = """
import sys, time
from bench_resources.cluster.heartbeats import Heartbeats
with Heartbeats(sys.stdin.readline().strip(), "V", 2).keep_alive(sys.argv[1]):
    print("is alive", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def instance(tmp_path, database_address, monkeypatch):
    monkeypatch.setenv("TEAM_DATABASE", database_address)
    (tmp_path / "bench.toml").write_text(
        f'[storage]\ndatabase = "env:TEAM_DATABASE"\nobjects = "file://{tmp_path}/objects"\n'
    )
    with open_instance(tmp_path) as instance:
        assert isinstance(instance, HomeInstance)
        instance.heartbeats = Heartbeats(database_address, "V", lease=2)  # s
        yield instance


def add_run(instance: dg.DagsterInstance, **changes: str) -> str:
    """Add a started run, as of a process that does not exist on this machine; returns its id."""
    job = dg.Definitions([nothing]).resolve_implicit_global_asset_job_def()
    local_process = this_process()
    assert local_process
    run_process = replace(local_process, pid=2**22 + 1, started=1, **changes)
    run_id = instance.create_run_for_job(job, status=STARTED).run_id
    instance.add_run_tags(
        run_id, {".dagster/bench_process_of": run_id, ".dagster/bench_process": str(run_process)}
    )
    return run_id


def status_after_check(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    """The status of a run after orphaned runs were ended."""
    end_orphaned_runs(instance)
    run = instance.get_run_by_id(run_id)
    assert run
    return run.status


def test_a_run_without_any_heartbeat_is_not_ended(instance: dg.DagsterInstance) -> None:
    run_id = add_run(instance, host="elsewhere", boot="another")
    assert status_after_check(instance, run_id) == STARTED


def test_a_run_elsewhere_is_ended_only_after_its_process_was_killed(instance, database_address):
    run_id = add_run(instance, host="elsewhere")
    process = subprocess.Popen(
        [sys.executable, "-c", KEEP_ALIVE, run_id], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, cwd=CHECKOUT, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    try:
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{database_address}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "is alive\n"
        time.sleep(4)  # two leases
        assert status_after_check(instance, run_id) == STARTED
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    deadline = time.monotonic() + 10
    while status_after_check(instance, run_id) != FAILED:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_run_is_not_lost_after_the_database_was_down(tmp_path: Path) -> None:
    with postgres() as server:
        heartbeats = Heartbeats(server.address(), "V", lease=3)
        with heartbeats.keep_alive("a"):
            time.sleep(1.5)
            server.stop()
            time.sleep(4)  # longer than a lease
            server.start()
            assert not heartbeats.is_lost("a")
            time.sleep(3.5)
            assert not heartbeats.is_lost("a")
