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
SERVICES = ("dagster_webserver", "dagster-daemon", "api grpc")  # words of their command lines
TIMEOUT_SECONDS = 400
N_QUESTIONS = 40  # of 20 pairs


class Ui:
    """``bench ui`` of a home, with every process that it starts."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port, self.code_port = free_port(), free_port()

    def start(self) -> None:
        """Start the command, and wait until its web server responds."""
        self.command = self.start_process("ui", "--port", str(self.port))
        wait_until(lambda: "data" in self.query("{ version }"))

    def start_process(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command of ``bench`` in the home, in a session of its own."""
        command = [str(Path(sys.executable).parent / "bench"), *arguments]
        environment = {**os.environ, "BENCH_HOME": str(self.home)}
        with (self.home / "ui.log").open("ab") as log:
            return subprocess.Popen(
                command, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def run_unit(self, name: str) -> subprocess.Popen[bytes]:
        """Run the command of a unit of systemd, on ports of this test."""
        unit = (CHECKOUT / "deploy" / "systemd" / f"bench-{name}.service").read_text()
        (arguments,) = re.findall(r"ExecStart=\S+ (.*)", unit)
        arguments = arguments.replace("4000", str(self.code_port))
        arguments = arguments.replace("3000", str(self.port))
        return self.start_process(*arguments.split())

    def query(self, query: str, **variables: object) -> dict:
        """Send a GraphQL query; an empty reply if the web server does not respond."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        address = f"http://127.0.0.1:{self.port}/graphql"
        with suppress(OSError):
            headers = {"Content-Type": "application/json"}
            with urlopen(Request(address, body, headers), timeout=60) as reply:
                return json.load(reply)
        return {}

    def launch(self, model: str, **config: object) -> str:
        """Launch the evaluation of a model; returns the id of the run."""
        tags = [{"key": "dagster/partition", "value": model}]
        reply = self.query(LAUNCH, tags=tags, config=json.dumps(config))
        return reply["data"]["launchRun"]["run"]["runId"]

    def kill(self) -> None:
        """Kill every process until none is left."""
        while pids := self._pids():
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def service_pid(self, command_words: str) -> int:
        """Process id of a service, not of its watchdog or health check; 0: it does not run."""
        for pid in self._pids():
            with suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
                if command_words in line and "process_watchdog" not in line and "check" not in line:
                    return pid
        return 0

    def kill_service(self, command_words: str) -> None:
        """Kill a service and wait until another process has replaced it."""
        killed_pid = self.service_pid(command_words)
        os.kill(killed_pid, signal.SIGKILL)
        wait_until(lambda: self.service_pid(command_words) not in (0, killed_pid))

    def _pids(self) -> list[int]:
        """Processes with this home in their environment, without zombies and ourselves."""
        variable = f"BENCH_HOME={self.home}".encode()
        pids = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if variable in (folder / "environ").read_bytes().split(b"\0"):
                    pids.append(int(folder.name))
        return [pid for pid in pids if pid != os.getpid()]


def status_of(instance: dg.DagsterInstance, run_id: str) -> dg.DagsterRunStatus:
    run = instance.get_run_by_id(run_id)
    assert run
    return run.status


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "timed out"
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
    bench_ui = Ui(home)
    yield bench_ui
    bench_ui.kill()


@pytest.mark.long
def test_after_a_crash_a_killed_run_is_retried_and_a_queued_run_goes_on(ui, server):
    ui.start()
    killed_id, queued_id = ui.launch("m"), ui.launch("n")
    wait_until(lambda: server.n_requests > 2)
    ui.kill()
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:
        status = partial(status_of, instance)

        def retries() -> list[dg.DagsterRun]:
            return [run for run in instance.get_runs() if run.parent_run_id == killed_id]

        assert status(killed_id) == dg.DagsterRunStatus.STARTED
        assert status(queued_id) == dg.DagsterRunStatus.QUEUED
        ui.start()
        assert status(killed_id) == dg.DagsterRunStatus.FAILURE
        wait_until(lambda: status(queued_id) == dg.DagsterRunStatus.SUCCESS)
        wait_until(retries)
        (retry,) = retries()
        wait_until(lambda: status(retry.run_id) == dg.DagsterRunStatus.SUCCESS)
        assert len(retries()) == 1
    models = [body["model"] for body in server.bodies]
    assert models.count("m") <= N_QUESTIONS + 1  # the request in flight when it was killed
    assert models.count("n") == N_QUESTIONS


@pytest.mark.long
def test_a_run_goes_on_while_each_service_is_restarted(ui: Ui, server: ChatServer) -> None:
    ui.start()
    run_id = ui.launch("m")
    wait_until(lambda: server.n_requests > 2)
    for command_words in SERVICES:
        ui.kill_service(command_words)
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:
        status = partial(status_of, instance)
        assert status(run_id) == dg.DagsterRunStatus.STARTED
        wait_until(lambda: status(run_id) == dg.DagsterRunStatus.SUCCESS)
    assert len(server.bodies) == N_QUESTIONS


@pytest.mark.long
def test_a_run_can_be_terminated_after_its_code_server_was_killed(ui, server):
    ui.start()
    wait_until(lambda: "errors" not in ui.query("{ assetNodes { id } }"))
    run_id = ui.launch("m")
    wait_until(lambda: server.n_requests > 2)

    ui.kill_service("api grpc")
    reply = ui.query(TERMINATE, run=run_id)

    assert reply["data"]["terminateRun"]["__typename"] == "TerminateRunSuccess"
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:
        wait_until(lambda: status_of(instance, run_id) == dg.DagsterRunStatus.CANCELED)


@pytest.mark.long
def test_a_run_outlives_the_killed_command(ui: Ui, server: ChatServer) -> None:
    ui.start()
    run_id = ui.launch("m")
    wait_until(lambda: server.n_requests > 2)
    ui.command.kill()
    ui.command.wait()
    wait_until(lambda: not any(ui.service_pid(command_words) for command_words in SERVICES))
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:
        wait_until(lambda: status_of(instance, run_id) == dg.DagsterRunStatus.SUCCESS)
    assert len(server.bodies) == N_QUESTIONS


@pytest.mark.long
def test_runs_go_on_while_the_unit_of_the_code_server_restarts(ui: Ui, server: ChatServer) -> None:
    ui.run_unit("web")
    ui.run_unit("daemon")
    wait_until(lambda: "data" in ui.query("{ version }"))
    code_server = ui.run_unit("code")  # last: the others find it once it is there
    wait_until(lambda: ui.query("{ assetNodes { id } }").get("data", {}).get("assetNodes"))
    run_id = ui.launch("m")
    wait_until(lambda: server.n_requests > 2)
    code_server.kill()
    code_server.wait()
    wait_until(lambda: not ui.service_pid("api grpc"))
    ui.run_unit("code")
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:
        wait_until(lambda: status_of(instance, run_id) == dg.DagsterRunStatus.SUCCESS)
    assert len(server.bodies) == N_QUESTIONS


@pytest.fixture
def port_in_use():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_port_in_use_is_refused_before_anything_starts(port_in_use, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    result = CliRunner().invoke(app, ["ui", "--port", str(port_in_use)])
    assert result.exit_code == 1
    assert f"port {port_in_use} of 127.0.0.1 cannot be used" in result.stderr
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
    """A service that prints its process id and sleeps; it can be made to hang."""

    label = "the sleeper"
    is_hung = False

    def command(self) -> list[str]:
        self.is_hung = False  # a new process responds, else it might be ended before it prints
        code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
        return [sys.executable, "-c", code]

    def is_ready(self) -> bool:
        return True

    def is_healthy(self) -> bool:
        return not self.is_hung


class SupervisedSleeper:
    def __init__(self, home: Path) -> None:
        self.service, self.log = Sleeper(home, host="", port=0), home / "log"
        self.supervisor = supervisor.Supervisor([self.service], self.log)

    def wait_for_pids(self, n: int) -> list[int]:
        """Tend the service until ``n`` of its processes have printed their ids."""
        deadline = time.monotonic() + 60
        while True:
            self.supervisor.tend()
            pids = [int(line) for line in self.log.read_text().split("\n") if line.isdigit()]
            if len(pids) >= n:
                return pids
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture
def sleeper(tmp_path, monkeypatch):
    """A started sleeper, which is checked and started again without pauses."""
    monkeypatch.setattr(supervisor, "_PAUSES", (0.0,))
    monkeypatch.setattr(supervisor, "_HEALTH_SECONDS", 0.0)
    monkeypatch.setattr(supervisor, "_DOUBT_SECONDS", 0.0)
    supervised = SupervisedSleeper(tmp_path)
    with supervised.supervisor:
        supervised.supervisor.start()
        yield supervised


def test_a_service_that_hangs_is_ended_and_started_again(sleeper):
    (first_pid,) = sleeper.wait_for_pids(1)

    sleeper.service.is_hung = True
    sleeper.wait_for_pids(2)

    assert "the sleeper does not respond; it is ended" in sleeper.log.read_text()
    with pytest.raises(ProcessLookupError):
        os.kill(first_pid, 0)


def test_a_long_log_begins_anew_and_the_old_one_is_kept(sleeper, monkeypatch):
    (pid,) = sleeper.wait_for_pids(1)
    monkeypatch.setattr(supervisor, "_LOG_BYTES", 1)

    sleeper.supervisor.tend()

    assert sleeper.log.with_suffix(".log.1").read_text() == f"{pid}\n"
    assert sleeper.log.read_text() == ""


def test_services_go_on_after_their_log_is_deleted(sleeper):
    (pid,) = sleeper.wait_for_pids(1)
    sleeper.log.unlink()

    sleeper.supervisor.tend()

    os.kill(pid, 0)  # raises if there is no such process
