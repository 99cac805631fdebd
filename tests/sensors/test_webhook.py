"""What failed is posted once, and nothing is lost while the webhook is away."""

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import loads
from pathlib import Path
from threading import Thread

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.bench_toml import Settings, load_settings
from bench_sensors import webhook
from bench_sensors.webhook import post_failures
from tests.sensors.watched import CATALOG


class Room(ThreadingHTTPServer):
    """A chat room: keeps what is posted to it, or refuses."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Door)
        self.posted: list[dict[str, str]] = []
        self.takes = 100  # messages


class _Door(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Room)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_taken = len(self.server.posted) < self.server.takes
        self.server.posted += [loads(body)] if is_taken else []
        self.send_response(200 if is_taken else 503)
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
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as opened:  # ticks are recorded
        yield opened


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "bench.toml").write_text('[checkpoints]\nwebhook_env = "ROOM"\n')
    return load_settings(tmp_path)


def post(
    instance: dg.DagsterInstance, settings: Settings, cursor: str | None, after: float = 10.0
) -> dg.SensorResult:
    """Tick some seconds from now."""
    return post_failures(instance, settings, CATALOG.suites, cursor, time.time() + after)


def run(instance: dg.DagsterInstance, model: str, *checks: str, fails: str = "") -> None:
    """Run an asset of one model, whose checks fail."""

    @dg.asset(key=["codis", "metrics"], partitions_def=MODELS)
    def metrics() -> None:
        if fails:
            raise ModelError(fails)

    def check_of(says: str) -> dg.AssetChecksDefinition:
        @dg.asset_check(asset=metrics, name=says.partition(":")[0], partitions_def=MODELS)
        def check() -> dg.AssetCheckResult:
            severity = dg.AssetCheckSeverity.WARN
            return dg.AssetCheckResult(
                passed=False, severity=severity, description=says.partition(":")[2]
            )

        return check

    instance.add_dynamic_partitions("model", [model])
    dg.materialize(
        [metrics, *map(check_of, checks)],
        instance=instance,
        partition_key=model,
        raise_on_error=False,
    )


def test_a_failed_check_is_posted_once(
    room: Room, settings: Settings, instance: dg.DagsterInstance
) -> None:
    run(instance, "a", "before:anyone listened")
    cursor = post(instance, settings, None, after=0.0).cursor
    run(instance, "b")
    run(instance, "a/step-2@01234567", "no_regression:all: -0.100 against a/step-1")
    for _ in range(2):
        cursor = post(instance, settings, cursor).cursor
    (message,) = room.posted
    assert message["text"] == (
        "WARN: codis/metrics of a/step-2@01234567 fails no_regression: all: -0.100 against a/step-1"
    )
    assert (message["model"], message["check"]) == ("a/step-2@01234567", "no_regression")


def test_what_a_webhook_refuses_is_posted_later_in_order(
    room: Room, settings: Settings, instance: dg.DagsterInstance
) -> None:
    cursor = post(instance, settings, None, after=0.0).cursor
    run(instance, "a", "one:first", "two:second")
    run(instance, "b", "one:third")
    room.takes = 1
    result = post(instance, settings, cursor)
    assert result.skip_reason is not None
    reason = str(result.skip_reason.skip_message)
    assert reason == "the webhook of ROOM cannot be reached: HTTPStatusError"
    room.takes = 100
    post(instance, settings, result.cursor)
    assert [message["description"] for message in room.posted] == ["first", "second", "third"]


def test_failed_and_cancelled_runs_are_posted_with_our_message(
    room: Room, settings: Settings, instance: dg.DagsterInstance
) -> None:
    cursor = post(instance, settings, None, after=0.0).cursor
    run(instance, "a", fails="judge at 127.0.0.1:8001 refused connections\nmore of it")
    cancelled = create_run_for_test(instance, job_name="evaluate_codis")
    instance.report_run_canceled(cancelled)
    for _ in range(2):
        cursor = post(instance, settings, cursor).cursor
    failed, other = room.posted
    assert failed["text"].startswith("FAILURE: run ")
    assert failed["text"].endswith(
        " of a: codis/metrics: judge at 127.0.0.1:8001 refused connections"
    )
    assert other["text"] == f"CANCELED: run {cancelled.run_id[:8]}: cancelled"
    assert (failed["model"], other["run"]) == ("a", cancelled.run_id)


def test_a_failing_sensor_is_posted_once(
    room: Room, settings: Settings, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor = post(instance, settings, None).cursor
    for errors in (
        {"codex": "no suite 'codex'"},
        {"codex": "no suite 'codex'"},
        {},
        {"hub": "off"},
    ):
        monkeypatch.setattr(webhook, "_failing_sensors", lambda _, errors=errors: errors)
        cursor = post(instance, settings, cursor).cursor
    assert [message["text"] for message in room.posted] == [
        "FAILURE: sensor codex: no suite 'codex'",
        "FAILURE: sensor hub: off",
    ]
