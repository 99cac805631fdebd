"""Services of the UI: what is killed starts again, runs go on or are tried again."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.request import Request, urlopen

import dagster as dg
import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.materialization import supervisor
from bench_assets.workspace.materialization.dagster_processes import Service
from bench_assets.workspace.materialization.supervisor import supervise_ui
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.conftest import CHECKOUT
from tests.fakes.chat_server import ChatServer
from tests.fakes.codis_release import entries, write_release
from tests.fakes.ports import free_port

LAUNCH = """
mutation Launch($tags: [ExecutionTag!]!, $config: RunConfigData) {
  launchRun(executionParams: {
    selector: {
      repositoryLocationName: "bench_assets", repositoryName: "__repository__",
      jobName: "evaluate_codis"
    }
    runConfigData: $config
    executionMetadata: {tags: $tags}
  }) { __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } }
}
"""
TERMINATE = """
mutation Terminate($run: String!) { terminateRun(runId: $run) { __typename } }
"""
SERVICES = ("dagster_webserver", "dagster-daemon", "api grpc")
PATIENCE = 400  # s


class Ui:
    """``bench ui`` with everything that it starts."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port, self.code_port = free_port(), free_port()

    def start(self) -> None:
        self.command = self.run("ui", "--port", str(self.port))
        until(lambda: "data" in self.ask("{ version }"))

    def run(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [str(Path(sys.executable).parent / "bench"), *arguments]
        environment = {**os.environ, "BENCH_HOME": str(self.home)}
        with (self.home / "ui.log").open("ab") as log:
            return subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def run_unit(self, name: str) -> subprocess.Popen[bytes]:
        """Run the command of a unit of systemd, on ports of this test."""
        unit = (CHECKOUT / "deploy" / "systemd" / f"bench-{name}.service").read_text()
        _, _, arguments = unit.partition("ExecStart=")[2].partition("\n")[0].partition(" ")
        ports = {"4000": str(self.code_port), "3000": str(self.port)}
        return self.run(*re.sub("[34]000", lambda found: ports[found[0]], arguments).split())

    def ask(self, query: str, **variables: object) -> dict:
        body = json.dumps({"query": query, "variables": variables}).encode()
        address = f"http://127.0.0.1:{self.port}/graphql"
        with suppress(OSError):
            headers = {"Content-Type": "application/json"}
            with urlopen(Request(address, body, headers), timeout=60) as reply:
                return json.load(reply)
        return {}

    def launch(self, model: str, **config: object) -> str:
        tags = [{"key": "dagster/partition", "value": model}]
        reply = self.ask(LAUNCH, tags=tags, config=json.dumps(config))
        return reply["data"]["launchRun"]["run"]["runId"]

    def kill(self) -> None:
        while left := self._processes():
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def service(self, words: str) -> int:
        """Process id of a service, by words of its command line; 0: it does not run."""
        for pid in self._processes():
            with suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
                if words in line and "process_watchdog" not in line and "check" not in line:
                    return pid
        return 0

    def kill_service(self, words: str) -> None:
        """Kill a service and wait until another process has its place."""
        killed = self.service(words)
        os.kill(killed, signal.SIGKILL)
        until(lambda: self.service(words) not in (0, killed))

    def _processes(self) -> list[int]:
        """Whatever was started for this home and does not wait to be buried."""
        mark = f"BENCH_HOME={self.home}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return [pid for pid in found if pid != os.getpid()]


def status_of(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    assert run
    return run.status


def until(happened: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.5)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer("A", latency=1.0) as running:
        yield running


@pytest.fixture
def ui(tmp_path: Path, server: ChatServer) -> Iterator[Ui]:
    write_release(tmp_path / "codis", entries()[:20])
    home = tmp_path / "home"
    home.mkdir()
    section = f'kind = "server"\nbase_url = "{server.base_url}"\nconcurrency = 1\nmodel = '
    (home / "bench.toml").write_text(
        '[sources]\ncodis = "../codis"\n[suites.codis]\njudge = "rules"\n'
        "[cluster]\npools = { server = 1 }\n"  # one run at a time
        f'[models.m]\n{section}"m"\n[models.n]\n{section}"n"\n'
    )
    with Workbench(load_settings(home), ["codis"]) as bench:
        bench.refresh_questions("codis")
    opened = Ui(home)
    yield opened
    opened.kill()


@pytest.mark.long
def test_a_run_that_was_killed_with_everything_is_tried_again_and_others_go_on(ui, server):
    ui.start()
    killed, waiting = ui.launch("m"), ui.launch("n")
    until(lambda: server.n_requests > 2)
    ui.kill()
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:
        status = partial(status_of, instance)

        def tried_again() -> list[dg.DagsterRun]:
            return [run for run in instance.get_runs() if run.parent_run_id == killed]

        assert status(killed) == dg.DagsterRunStatus.STARTED
        assert status(waiting) == dg.DagsterRunStatus.QUEUED
        ui.start()
        assert status(killed) == dg.DagsterRunStatus.FAILURE
        until(lambda: status(waiting) == dg.DagsterRunStatus.SUCCESS)
        until(tried_again)
        (again,) = tried_again()
        until(lambda: status(again.run_id) == dg.DagsterRunStatus.SUCCESS)
        assert len(tried_again()) == 1
    models = [body["model"] for body in server.bodies]
    assert models.count("m") <= 40 + 1  # and what was in flight when it was killed
    assert models.count("n") == 40


@pytest.mark.long
def test_each_service_comes_back_and_the_run_goes_on(ui: Ui, server: ChatServer) -> None:
    ui.start()
    run_id = ui.launch("m")
    until(lambda: server.n_requests > 2)
    for words in SERVICES:
        ui.kill_service(words)
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:
        status = partial(status_of, instance)
        assert status(run_id) == dg.DagsterRunStatus.STARTED
        until(lambda: status(run_id) == dg.DagsterRunStatus.SUCCESS)
        assert len(server.bodies) == 40

        until(lambda: "data" in ui.ask("{ version }"))
        until(lambda: "errors" not in ui.ask("{ assetNodes { id } }"))
        other = ui.launch("n")
        until(lambda: len(server.bodies) > 42)
        ui.kill_service("api grpc")
        assert ui.ask(TERMINATE, run=other)["data"]["terminateRun"]["__typename"]
        until(lambda: status(other) == dg.DagsterRunStatus.CANCELED)


@pytest.mark.long
def test_a_run_outlives_the_command(ui: Ui, server: ChatServer) -> None:
    ui.start()
    run_id = ui.launch("m")
    until(lambda: server.n_requests > 2)
    ui.command.kill()
    ui.command.wait()
    until(lambda: not any(map(ui.service, SERVICES)))
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:
        until(lambda: status_of(instance, run_id) == dg.DagsterRunStatus.SUCCESS)
    assert len(server.bodies) == 40


@pytest.mark.long
def test_runs_go_on_while_the_unit_of_the_code_server_restarts(ui: Ui, server: ChatServer) -> None:
    ui.run_unit("web")
    ui.run_unit("daemon")
    until(lambda: "data" in ui.ask("{ version }"))
    code = ui.run_unit("code")  # the others find it when it comes
    until(lambda: ui.ask("{ assetNodes { id } }").get("data", {}).get("assetNodes"))
    run_id = ui.launch("m")
    until(lambda: server.n_requests > 2)
    code.kill()
    code.wait()
    until(lambda: not ui.service("api grpc"))
    ui.run_unit("code")
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:
        until(lambda: status_of(instance, run_id) == dg.DagsterRunStatus.SUCCESS)
    assert len(server.bodies) == 40


@pytest.fixture
def taken():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        yield one.getsockname()[1]


def test_a_taken_port_is_refused_before_anything_starts(taken, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    result = CliRunner().invoke(app, ["ui", "--port", str(taken)])
    assert result.exit_code == 1
    assert f"port {taken} of 127.0.0.1 cannot be used" in result.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.long
def test_a_service_that_ends_before_it_is_ready_is_an_error_with_the_end_of_its_log(tmp_path):
    (tmp_path / "dagster").mkdir()
    (tmp_path / "dagster" / "dagster.yaml").write_text("run_queue: [no, mapping\n")
    with supervise_ui(tmp_path, 3999) as services, pytest.raises(BenchError) as raised:
        services.start()
    assert "the code server exited unexpectedly" in str(raised.value)
    assert "dagster.yaml" in str(raised.value)


class Sleeper(Service):
    """A service of one's own, which may end or hang."""

    label = "the sleeper"
    is_hung = False

    def command(self) -> list[str]:
        code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
        return [sys.executable, "-c", code]

    def is_ready(self) -> bool:
        return True

    def is_healthy(self) -> bool:
        return not self.is_hung


@pytest.fixture
def sleeper(tmp_path, monkeypatch):
    """One that is kept running, and the ids of its processes so far."""
    for name, seconds in {"_PAUSES": (0.0,), "_HEALTH_SECONDS": 0.0, "_DOUBT_SECONDS": 0.0}.items():
        monkeypatch.setattr(supervisor, name, seconds)
    service, log = Sleeper(tmp_path, "", 0), tmp_path / "log"
    with supervisor.Supervisor([service], log) as running:
        running.start()

        def pids(n: int) -> list[int]:
            until = time.monotonic() + 60
            while True:
                running.tend()
                found = [int(line) for line in log.read_text().split("\n") if line.isdigit()]
                if len(found) >= n:
                    return found
                assert time.monotonic() < until
                time.sleep(0.02)

        yield service, pids, log


def test_a_service_that_hangs_is_ended_and_started_again(sleeper):
    service, pids, log = sleeper
    (first,) = pids(1)
    service.is_hung = True
    pids(2)
    service.is_hung = False
    assert "the sleeper does not respond; it is ended" in log.read_text()
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_a_long_log_begins_anew_and_the_old_one_is_kept(sleeper, monkeypatch):
    _, pids, log = sleeper
    (first,) = pids(1)
    monkeypatch.setattr(supervisor, "_LOG_BYTES", 1)
    pids(0)
    assert log.with_suffix(".log.1").read_text() == f"{first}\n"
    assert log.read_text() == ""
