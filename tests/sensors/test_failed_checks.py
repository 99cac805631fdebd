"""Failed checks are posted once each, and none is lost while the webhook is away."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import loads
from pathlib import Path
from threading import Thread

import dagster as dg
import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.bench_toml import Settings, load_settings
from bench_sensors.failed_checks import post_failed_checks


class Room(ThreadingHTTPServer):
    """A chat room: keeps what is posted to it, or refuses."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Door)
        self.posted: list[dict[str, str]] = []
        self.refuses = False


class _Door(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Room)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.server.refuses:
            self.server.posted.append(loads(body))
        self.send_response(503 if self.server.refuses else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    with Room() as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("ROOM", f"http://127.0.0.1:{server.server_port}/a-secret-path")
        yield server
        server.shutdown()


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "bench.toml").write_text('[checkpoints]\nwebhook_env = "ROOM"\n')
    return load_settings(tmp_path)


def check(instance: dg.DagsterInstance, model: str, *, passed: bool, says: str = "") -> None:
    """Evaluate a check of one model."""
    instance.report_runless_asset_event(
        dg.AssetCheckEvaluation(
            asset_key=dg.AssetKey(["codis", "metrics"]),
            check_name="no_regression",
            passed=passed,
            metadata={},
            severity=dg.AssetCheckSeverity.WARN,
            description=says,
            partition=model,
        )
    )


def test_a_failed_check_is_posted_once(
    room: Room, settings: Settings, instance: dg.DagsterInstance
) -> None:
    check(instance, "a", passed=False, says="before anyone listened")
    cursor = post_failed_checks(instance, settings, None).cursor
    check(instance, "b", passed=True)
    check(instance, "a/step-2@01234567", passed=False, says="all: -0.100 against a/step-1")
    for _ in range(2):
        cursor = post_failed_checks(instance, settings, cursor).cursor
    (message,) = room.posted
    assert message["text"] == (
        "WARN: codis/metrics of a/step-2@01234567 fails no_regression: all: -0.100 against a/step-1"
    )
    assert (message["model"], message["check"]) == ("a/step-2@01234567", "no_regression")


def test_what_a_webhook_refuses_is_posted_later_in_order(
    room: Room, settings: Settings, instance: dg.DagsterInstance
) -> None:
    cursor = post_failed_checks(instance, settings, None).cursor
    check(instance, "a", passed=False, says="first")
    check(instance, "b", passed=False, says="second")
    room.refuses = True
    result = post_failed_checks(instance, settings, cursor)
    assert result.skip_reason is not None
    said = str(result.skip_reason.skip_message)
    assert said == "the webhook of ROOM cannot be reached: HTTPStatusError"
    room.refuses = False
    post_failed_checks(instance, settings, result.cursor)
    assert [message["description"] for message in room.posted] == ["first", "second"]


def test_an_address_that_is_not_set_is_named(
    settings: Settings, instance: dg.DagsterInstance
) -> None:
    cursor = post_failed_checks(instance, settings, None).cursor
    with pytest.raises(SettingsError, match="the environment variable ROOM is not set"):
        post_failed_checks(instance, settings, cursor)


def test_what_failed_while_no_webhook_was_configured_is_not_posted(
    room: Room, settings: Settings, instance: dg.DagsterInstance, tmp_path: Path
) -> None:
    (tmp_path / "without").mkdir()
    without = load_settings(tmp_path / "without")
    cursor = post_failed_checks(instance, settings, None).cursor
    check(instance, "a", passed=False, says="in the weeks without a webhook")
    cursor = post_failed_checks(instance, without, cursor).cursor
    check(instance, "b", passed=False, says="now")
    post_failed_checks(instance, settings, cursor)
    assert [message["description"] for message in room.posted] == ["now"]


def test_without_a_webhook_nothing_is_done(tmp_path: Path, instance: dg.DagsterInstance) -> None:
    result = post_failed_checks(instance, load_settings(tmp_path), "0")
    assert result.skip_reason is not None
