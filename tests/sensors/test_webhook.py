import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import loads
from pathlib import Path
from threading import Thread

import dagster as dg
import pytest
from dagster._core.definitions.run_request import InstigatorType
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteInstigatorOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.scheduler.instigation import (
    InstigatorState,
    InstigatorStatus,
    TickData,
    TickStatus,
)
from dagster._core.test_utils import create_run_for_test
from dagster_shared.error import SerializableErrorInfo

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.bench_toml import Settings, load_settings
from bench_sensors.webhook import post_failures
from tests.sensors.watched import CATALOG


class ChatRoom(ThreadingHTTPServer):
    """A chat room that accepts a number of messages, and refuses further ones."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _ChatRoomHandler)
        self.messages: list[dict[str, str]] = []
        self.capacity = 100  # messages


class _ChatRoomHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, ChatRoom)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_accepted = len(self.server.messages) < self.server.capacity
        self.server.messages += [loads(body)] if is_accepted else []
        self.send_response(200 if is_accepted else 503)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatRoom]:
    with ChatRoom() as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("ROOM", f"http://127.0.0.1:{server.server_port}/a-secret-path")
        yield server
        server.shutdown()


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as instance:  # ticks are recorded
        yield instance


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "bench.toml").write_text('[checkpoints]\nwebhook_env = "ROOM"\n')
    return load_settings(tmp_path)


def post(instance, settings, cursor, after=10.0):
    """Evaluate the sensor some seconds from now."""
    return post_failures(instance, settings, CATALOG.suites, cursor, time.time() + after)


def run_metrics(instance: dg.DagsterInstance, model: str, *checks: str, error: str = "") -> None:
    """Materialize metrics of a model; ``checks``, such as ``"name:description"``, fail."""

    @dg.asset(key=["codis", "metrics"], partitions_def=MODELS)
    def metrics() -> None:
        if error:
            raise ModelError(error)

    def failing_check(text: str) -> dg.AssetChecksDefinition:
        name, _, description = text.partition(":")

        @dg.asset_check(asset=metrics, name=name, partitions_def=MODELS)
        def check() -> dg.AssetCheckResult:
            severity = dg.AssetCheckSeverity.WARN
            return dg.AssetCheckResult(passed=False, severity=severity, description=description)

        return check

    instance.add_dynamic_partitions("model", [model])
    dg.materialize(
        [metrics, *map(failing_check, checks)],
        instance=instance,
        partition_key=model,
        raise_on_error=False,
    )


def test_a_failed_check_is_posted_once(room, settings, instance):
    run_metrics(instance, "a", "before:anyone listened")
    cursor = post(instance, settings, cursor=None, after=0.0).cursor
    run_metrics(instance, "b")
    run_metrics(instance, "a/step-2@01234567", "no_regression:all: -0.100 against a/step-1")
    for _ in range(2):
        cursor = post(instance, settings, cursor).cursor
    (message,) = room.messages
    assert message["text"] == (
        "WARN: codis/metrics of a/step-2@01234567 fails no_regression: all: -0.100 against a/step-1"
    )
    assert (message["model"], message["check"]) == ("a/step-2@01234567", "no_regression")


def test_refused_messages_are_posted_later_in_order(room, settings, instance):
    cursor = post(instance, settings, cursor=None, after=0.0).cursor
    run_metrics(instance, "a", "one:first", "two:second")
    run_metrics(instance, "b", "one:third")
    room.capacity = 1
    result = post(instance, settings, cursor)
    assert result.skip_reason is not None
    reason = str(result.skip_reason.skip_message)
    assert reason == "the webhook of ROOM cannot be reached: HTTPStatusError"
    room.capacity = 100
    post(instance, settings, result.cursor)
    assert [message["description"] for message in room.messages] == ["first", "second", "third"]


def test_failed_and_cancelled_runs_are_posted_with_the_reason(room, settings, instance):
    cursor = post(instance, settings, cursor=None, after=0.0).cursor
    run_metrics(instance, "a", error="judge at 127.0.0.1:8001 refused connections\nmore of it")
    cancelled = create_run_for_test(instance, job_name="evaluate_codis")
    instance.report_run_canceled(cancelled)
    for _ in range(2):
        cursor = post(instance, settings, cursor).cursor
    failure, cancellation = room.messages
    assert failure["text"].startswith("FAILURE: run ")
    assert failure["text"].endswith(
        " of a: codis/metrics: judge at 127.0.0.1:8001 refused connections"
    )
    assert cancellation["text"] == f"CANCELED: run {cancelled.run_id[:8]}: cancelled"
    assert (failure["model"], cancellation["run"]) == ("a", cancelled.run_id)


@pytest.fixture
def sensor(instance: dg.DagsterInstance) -> InstigatorState:
    """A sensor of the instance that has no ticks."""
    repository = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("bench"), "repository")
    state = InstigatorState(
        RemoteInstigatorOrigin(repository, "codex"), InstigatorType.SENSOR, InstigatorStatus.RUNNING
    )
    return instance.add_instigator_state(state)


def record_tick(
    instance: dg.DagsterInstance, sensor: InstigatorState, status: TickStatus, error: str = ""
) -> None:
    tick = TickData(
        instigator_origin_id=sensor.instigator_origin_id,
        instigator_name=sensor.name,
        instigator_type=sensor.instigator_type,
        status=status,
        timestamp=time.time(),
        selector_id=sensor.selector_id,
        error=SerializableErrorInfo(error, stack=[], cls_name=None) if error else None,
    )
    instance.create_tick(tick)


def test_a_failing_sensor_is_posted_once_until_it_succeeds(room, settings, instance, sensor):
    cursor = post(instance, settings, cursor=None).cursor
    for status, error in [
        (TickStatus.FAILURE, "no suite 'codex'"),
        (TickStatus.STARTED, ""),  # does not count yet
        (TickStatus.FAILURE, "no suite 'codex'"),
        (TickStatus.FAILURE, "no table"),
        (TickStatus.SKIPPED, ""),
        (TickStatus.FAILURE, "no table"),
    ]:
        record_tick(instance, sensor, status, error)
        cursor = post(instance, settings, cursor).cursor
    assert [message["text"] for message in room.messages] == [
        "FAILURE: sensor codex: no suite 'codex'",
        "FAILURE: sensor codex: no table",
        "FAILURE: sensor codex: no table",
    ]
