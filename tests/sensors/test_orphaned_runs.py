from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from bench_resources.config.bench_toml import load_settings
from bench_sensors.orphaned_runs import orphaned_run_sensors
from tests.resources.runs.sending import instance_of

SHARED = '[storage]\ndatabase = "env:BENCH_DATABASE"\nobjects = "file:///tmp/objects"\n'


class LauncherWithGoneJobs(dg.DefaultRunLauncher):
    """A launcher with runs whose jobs have left the queue."""

    def has_left_the_queue(self, run: dg.DagsterRun) -> bool:
        return run.tags.get("job") == "gone"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with instance_of(
        tmp_path, {"module": __name__, "class": "LauncherWithGoneJobs"}
    ) as open_instance:
        yield open_instance


def sensors_of(
    home: Path, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> list[dg.SensorDefinition]:
    monkeypatch.setenv("BENCH_DATABASE", "postgresql://bench@127.0.0.1:1/bench")
    (home / "bench.toml").write_text(SHARED + cluster)
    return orphaned_run_sensors(load_settings(home))


@pytest.mark.parametrize(
    "cluster",
    ['launcher = "slurm"', 'launcher = "ray"\naddress = "http://head:8265"'],
    ids=["Slurm", "Ray"],
)
def test_homes_that_send_runs_to_a_queue_have_the_sensor(tmp_path, cluster, monkeypatch):
    (sensor,) = sensors_of(tmp_path, f"[cluster]\n{cluster}\n", monkeypatch)
    assert sensor.name == "orphaned_runs"


def test_only_a_starting_run_whose_job_is_gone_is_failed(tmp_path, instance, monkeypatch):
    starting, started = dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED
    for run_id, status, job in [
        ("lost", starting, "gone"), ("waits", starting, "queued"), ("runs", started, "gone")
    ]:  # fmt: skip
        instance.run_storage.add_run(
            dg.DagsterRun(job_name="made", run_id=run_id, status=status, tags={"job": job})
        )
    (sensor,) = sensors_of(tmp_path, '[cluster]\nlauncher = "slurm"\n', monkeypatch)
    ticks = [sensor.evaluate_tick(dg.build_sensor_context(instance)).skip_message for _ in range(2)]
    assert ticks == ["ended: run lost", "no orphaned run"]
    statuses = {run.run_id: run.status.value for run in instance.get_runs()}
    assert statuses == {"lost": "FAILURE", "waits": "STARTING", "runs": "STARTED"}
