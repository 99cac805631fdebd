import pytest
import yaml

from bench_assets.workspace.materialization.dagster_config import write_dagster_yaml
from bench_resources.cluster.ray_launcher import RayLauncher
from bench_resources.config.bench_toml import load_settings
from bench_resources.runs.dagster_names import WorkerStatus
from tests.fakes.started_runs import started_run

pytest.importorskip("dagster_ray", reason="make cluster-check installs dagster-ray")
pytestmark = pytest.mark.long


def test_the_health_of_a_run_of_a_command_is_that_of_its_process() -> None:
    launcher = RayLauncher("http://127.0.0.1:9")  # no server
    with started_run(launcher) as run:
        assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING
        health = launcher.check_run_worker_health(
            run.with_tags({**run.tags, ".dagster/bench_process": run.tags[".dagster/bench_process"]
                           .replace('"pid": ', '"pid": 9')})
        )  # fmt: skip
        assert health.status == WorkerStatus.FAILED


@pytest.mark.parametrize(
    ("option", "expected_seconds"),
    [
        pytest.param("", 300, id="five minutes"),
        pytest.param("wait_for_room = 86400\n", 86_700, id="a day, and five minutes"),
    ],
)
def test_a_run_may_queue_for_its_limit(tmp_path, monkeypatch, option, expected_seconds):
    monkeypatch.setenv("BENCH_DATABASE", "postgresql://127.0.0.1:9/bench")
    (tmp_path / "bench.toml").write_text(
        f'[storage]\ndatabase = "env:BENCH_DATABASE"\nobjects = "file://{tmp_path}/all"\n'
        f'[cluster]\nlauncher = "ray"\naddress = "http://head:8265"\n{option}'
    )
    write_dagster_yaml(tmp_path / "dagster", load_settings(tmp_path))
    monitoring = yaml.safe_load((tmp_path / "dagster" / "dagster.yaml").read_text())
    assert monitoring["run_monitoring"]["start_timeout_seconds"] == expected_seconds
