"""Dagster's own daemon over our sensors: what it starts, and what it does not start twice."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.scheduler.instigation import SensorInstigatorData
from dagster._core.test_utils import create_test_daemon_workspace_context
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import ModuleTarget
from dagster._daemon.sensor import execute_sensor_iteration

from tests.conftest import CHECKOUT
from tests.fakes.checkpoint_files import write_checkpoint
from tests.sensors.watched import TABLES, record, watching, with_questions

QUEUE_ONLY = "telemetry: {enabled: false}\nconcurrency: {runs: {max_concurrent_runs: 0}}\n"


@dataclass
class Daemon:
    """What ticks sensors, in a process beside that of the code location."""

    instance: dg.DagsterInstance
    workspace: WorkspaceProcessContext

    def tick(self) -> list[dg.DagsterRun]:
        """Runs there are, newest first, after every sensor had its turn."""
        list(execute_sensor_iteration(self.workspace, logging.getLogger(), None, None))
        self.remember(lambda state: state.instigator_data.cursor)
        return list(self.instance.get_runs())

    def steps(self, run: dg.DagsterRun) -> set[str]:
        """What a run is to do."""
        assert run.execution_plan_snapshot_id
        plan = self.instance.get_execution_plan_snapshot(run.execution_plan_snapshot_id)
        return set(plan.step_keys_to_execute)

    def start(self, sensor: str) -> None:
        """Switch a sensor on, as in the UI."""
        with self.workspace.create_request_context() as context:
            (repository,) = context.get_code_location("watched").get_repositories().values()
            self.instance.start_sensor(repository.get_sensor(sensor))

    def remember(self, cursor) -> None:
        """Restart: sensors are due again, and know no more than a cursor."""
        for state in self.instance.all_instigator_state():
            assert isinstance(state.instigator_data, SensorInstigatorData)
            data = SensorInstigatorData(
                cursor=cursor(state), sensor_type=state.instigator_data.sensor_type
            )
            self.instance.update_instigator_state(state.with_data(data))


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    watching(tmp_path / "home", suites='["codis", "blink"]')
    dagster_home = tmp_path / "dagster"
    dagster_home.mkdir()
    (dagster_home / "dagster.yaml").write_text(QUEUE_ONLY)
    monkeypatch.setenv("DAGSTER_HOME", str(dagster_home))
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))  # the code location is a process
    target = ModuleTarget("tests.sensors.watched", None, str(CHECKOUT), "watched")
    with (
        dg.DagsterInstance.from_config(str(dagster_home)) as instance,
        create_test_daemon_workspace_context(target, with_questions(instance)) as workspace,
    ):
        yield Daemon(instance, workspace)


@pytest.mark.long
def test_each_evaluation_is_started_once_and_changes_are_followed(
    tmp_path: Path, daemon: Daemon
) -> None:
    write_checkpoint(tmp_path / "runs" / "a" / "step-1")
    (run,) = daemon.tick()
    (checkpoint,) = daemon.instance.get_dynamic_partitions("model")
    assert run.job_name == "evaluate_checkpoint"
    assert run.tags["dagster/run_key"] == f"{checkpoint}/codis+blink/1"
    assert daemon.steps(run) == with_checks("codis", "blink")
    assert len(daemon.tick()) == 1

    daemon.remember(cursor=lambda _: None)
    (tmp_path / "home" / "leases.sqlite").unlink()
    write_checkpoint(tmp_path / "runs" / "a" / "step-2", b"5678")
    keys = [run.tags["dagster/run_key"].partition("@")[0] for run in daemon.tick()]
    assert keys == ["a/step-2", "a/step-1"]

    for run in daemon.instance.get_runs():
        daemon.instance.report_run_failed(run)
    for suite in ("codis", "blink", "multi"):
        for key in TABLES[suite].made:
            record(daemon.instance, key, checkpoint)
    daemon.start("question_changes")
    assert len(daemon.tick()) == 2
    for suite in ("codis", "multi"):
        record(daemon.instance, dg.AssetKey([suite, "questions"]), content="2")
    (follows, *_) = runs = daemon.tick()
    assert len(runs) == 3
    assert follows.tags["dagster/partition"] == checkpoint
    assert daemon.steps(follows) == with_checks("codis", "multi")


def with_checks(*suites: str) -> set[str]:
    return {f"{suite}__{step}" for suite in suites for step in ("metrics", "metrics_whole")}
