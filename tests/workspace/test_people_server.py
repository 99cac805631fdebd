"""``bench annotate server``: what it needs is said before anything is started."""

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.cli.commands.annotate import server_app


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with a Label Studio that is never started."""
    label_studio = tmp_path / "environment" / "bin" / "label-studio"
    label_studio.parent.mkdir(parents=True)
    label_studio.write_text("#!/bin/false\n")
    label_studio.chmod(0o755)
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("BENCH_LABEL_STUDIO", str(tmp_path / "environment"))
    monkeypatch.setenv("LABEL_STUDIO_TOKEN", "ab" * 20)
    return tmp_path


def _said(*arguments: str) -> str:
    said = CliRunner().invoke(server_app, arguments)
    assert said.exit_code == 1
    assert "ab" * 20 not in said.output
    return said.stderr


def test_without_a_token_the_variable_is_named(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LABEL_STUDIO_TOKEN")
    assert "variable LABEL_STUDIO_TOKEN is not set" in _said()


def test_where_it_is_not_installed_the_way_is_told(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_LABEL_STUDIO", str(installed))
    assert "make annotation-server" in _said()


def test_a_token_of_another_kind_is_refused(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABEL_STUDIO_TOKEN", "eyJhbGciOi.eyJh.c2ln")
    assert "openssl rand -hex 20" in _said()


def test_a_taken_port_is_named(installed: Path) -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        port = one.getsockname()[1]
        assert f"port {port} of 127.0.0.1 cannot be used" in _said("--port", str(port))
    assert not (installed / "home").exists()


def test_one_that_ends_by_itself_is_told(installed: Path) -> None:
    assert "Label Studio exited unexpectedly (code 1)" in _said("--port", "8199")
