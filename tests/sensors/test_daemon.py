"""Dagster's own daemon over our sensors: what it starts, and what it does not start twice."""

import logging
import shutil
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.scheduler.instigation import SensorInstigatorData
from dagster._core.test_utils import create_test_daemon_workspace_context
from dagster._core.workspace.load_target import ModuleTarget
from dagster._daemon.sensor import execute_sensor_iteration

from tests.conftest import CHECKOUT
from tests.sensors.watched import watching, with_questions, write_checkpoint

QUEUE_ONLY = "telemetry: {enabled: false}\nconcurrency: {runs: {max_concurrent_runs: 0}}\n"


def test_a_restarted_daemon_without_cursor_and_claims_starts_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching(tmp_path / "home")
    write_checkpoint(tmp_path / "runs" / "a" / "step-1")
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

        def tick() -> list[tuple[str, str]]:
            list(execute_sensor_iteration(workspace, logging.getLogger(), None, None))
            return [(run.job_name, run.tags["dagster/run_key"]) for run in instance.get_runs()]

        started = tick()
        (checkpoint,) = instance.get_dynamic_partitions("model")
        assert started == [("evaluate_codis", f"{checkpoint}/codis")]

        for state in instance.all_instigator_state():
            instance.update_instigator_state(
                state.with_data(SensorInstigatorData(min_interval=0, cursor=None))
            )
        shutil.rmtree(tmp_path / "home" / "claims")
        write_checkpoint(tmp_path / "runs" / "a" / "step-2", b"5678")
        assert [key.partition("@")[0] for _, key in tick()] == ["a/step-2", "a/step-1"]
