"""The UI's services: a port that is taken, and one that ends before it is ready."""

import os
import signal
import socket
import sys
import time

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.materialization import supervisor
from bench_assets.workspace.materialization.dagster_processes import Service, require_free
from bench_assets.workspace.materialization.supervisor import supervise_ui


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


def test_a_port_that_was_closed_a_moment_ago_is_free():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    require_free(port)


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

    what = "the sleeper"
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


def test_a_service_that_ends_is_started_again(sleeper):
    _, pids, log = sleeper
    (first,) = pids(1)
    os.kill(first, signal.SIGKILL)
    assert pids(2)[1] != first
    assert "the sleeper ended (code 137); it starts again in 0 s" in log.read_text()


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
