"""A run of another machine is known to live, or to be gone, by its heartbeat."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
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

STARTED, OVER = dg.DagsterRunStatus.STARTED, dg.DagsterRunStatus.FAILURE
LIVING = """
import sys, time
from bench_resources.cluster.heartbeats import Heartbeats
with Heartbeats(sys.stdin.readline().strip(), "V", 2).keep_alive(sys.argv[1]):
    print("lives", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def instance(
    tmp_path: Path, database_address: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dg.DagsterInstance]:
    monkeypatch.setenv("TEAM_DATABASE", database_address)
    (tmp_path / "bench.toml").write_text(
        f'[storage]\ndatabase = "env:TEAM_DATABASE"\nobjects = "file://{tmp_path}/objects"\n'
    )
    with open_instance(tmp_path) as opened:
        assert isinstance(opened, HomeInstance)
        opened.heartbeats = Heartbeats(database_address, "V", lease=2)  # for seconds
        yield opened


def add_run(instance: dg.DagsterInstance, **changed: str) -> str:
    """A run that goes on, as far as Dagster knows, in a process that is none of this machine's."""
    job = dg.Definitions([nothing]).resolve_implicit_global_asset_job_def()
    here = this_process()
    assert here
    process = replace(here, pid=2**22 + 1, started=1, **changed)
    run_id = instance.create_run_for_job(job, status=STARTED).run_id
    instance.add_run_tags(
        run_id, {".dagster/bench_process_of": run_id, ".dagster/bench_process": str(process)}
    )
    return run_id


def status(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    end_orphaned_runs(instance)
    run = instance.get_run_by_id(run_id)
    assert run
    return run.status


def wait_for(what: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < until:
        time.sleep(0.1)
    return found


def test_a_run_of_which_no_heartbeat_was_ever_felt_is_left_alone(
    instance: dg.DagsterInstance,
) -> None:
    assert status(instance, add_run(instance, host="elsewhere", boot="another")) == STARTED


def test_a_run_elsewhere_is_left_alone_while_it_lives_and_ends_when_it_was_killed(
    instance: dg.DagsterInstance, database_address: str
) -> None:
    run_id = add_run(instance, host="elsewhere")
    elsewhere = subprocess.Popen(
        [sys.executable, "-c", LIVING, run_id], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, cwd=CHECKOUT, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )  # fmt: skip
    try:
        assert elsewhere.stdin
        assert elsewhere.stdout
        elsewhere.stdin.write(f"{database_address}\n")
        elsewhere.stdin.flush()
        assert elsewhere.stdout.readline() == "lives\n"
        time.sleep(4)  # two leases
        assert status(instance, run_id) == STARTED
    finally:
        elsewhere.send_signal(signal.SIGKILL)
        elsewhere.communicate()
    assert wait_for(lambda: status(instance, run_id) == OVER, 10)


def test_a_database_that_was_away_has_no_run_called_gone(tmp_path: Path) -> None:
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
