"""UI, daemon and run are killed together: the run ends, is tried again, and others go on."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import Request, urlopen

import dagster as dg
import pytest

from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.chat_server import ChatServer
from tests.codis_release import entries, write_release

pytestmark = pytest.mark.long

LAUNCH = """
mutation Launch($job: String!, $tags: [ExecutionTag!]!) {
  launchRun(executionParams: {
    selector: {
      repositoryLocationName: "bench_assets", repositoryName: "__repository__", jobName: $job
    }
    executionMetadata: {tags: $tags}
  }) { __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } }
}
"""
PATIENCE = 400  # s


class Ui:
    """``bench ui`` with everything that it starts."""

    def __init__(self, home: Path) -> None:
        self.home = home
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def start(self) -> None:
        command = [Path(sys.executable).parent / "bench", "ui", "--port", str(self.port)]
        log = (self.home / "ui.log").open("ab")
        environment = {**os.environ, "BENCH_HOME": str(self.home)}
        subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        until(lambda: "data" in self.ask("{ version }"))

    def ask(self, query: str, **variables: object) -> dict:
        body = json.dumps({"query": query, "variables": variables}).encode()
        address = f"http://127.0.0.1:{self.port}/graphql"
        with suppress(OSError):
            headers = {"Content-Type": "application/json"}
            with urlopen(Request(address, body, headers), timeout=60) as said:
                return json.load(said)
        return {}

    def launch(self, model: str) -> str:
        tags = [{"key": "dagster/partition", "value": model}]
        said = self.ask(LAUNCH, job="evaluate_codis", tags=tags)
        return said["data"]["launchRun"]["run"]["runId"]

    def kill(self) -> None:
        while left := self._processes():
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)

    def _processes(self) -> list[int]:
        """Whatever was started for this home and does not wait to be buried."""
        mark = f"BENCH_HOME={self.home}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return [pid for pid in found if pid != os.getpid()]


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
        f'[models.m]\n{section}"m"\n[models.n]\n{section}"n"\n'
    )
    with Workbench(load_settings(home), ["codis"]) as bench:
        bench.refresh_questions("codis")
    started = Ui(home)
    started.start()
    yield started
    started.kill()


def test_a_run_that_was_killed_with_everything_is_tried_again_and_others_go_on(ui, server):
    killed, waiting = ui.launch("m"), ui.launch("n")
    until(lambda: server.n_requests > 2)
    ui.kill()
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:

        def status(run_id: str) -> dg.DagsterRunStatus:
            return instance.get_run_by_id(run_id).status

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
    asked = [body["model"] for body in server.bodies]
    assert asked.count("m") <= 40 + 1  # and what was in flight when it was killed
    assert asked.count("n") == 40
