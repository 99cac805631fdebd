"""The UI's services: a port that is taken, and one that ends before it is ready."""

import socket

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.materialization.dagster_processes import require_free
from bench_assets.workspace.materialization.supervisor import supervise_ui


@pytest.fixture
def taken():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        yield one.getsockname()[1]


def test_a_taken_port_is_refused_before_anything_starts(taken, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    said = CliRunner().invoke(app, ["ui", "--port", str(taken)])
    assert said.exit_code == 1
    assert f"port {taken} of 127.0.0.1 cannot be used" in said.stderr
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
