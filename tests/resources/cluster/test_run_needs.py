import shutil
from pathlib import Path

import dagster as dg
import pytest

from bench_resources.cluster.run_needs import needs_of
from bench_resources.config.bench_toml import Settings, load_settings
from tests.cases import read_cases


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    shutil.copy(Path(__file__).with_name("run_needs.toml"), tmp_path / "bench.toml")
    return load_settings(tmp_path)


def run_of_partition(model: str) -> dg.DagsterRun:
    return dg.DagsterRun(
        job_name="j",
        run_id="00000000-0000-0000-0000-000000000000",
        tags={"dagster/partition": model} if model else {},
    )


@pytest.mark.parametrize(("model", "needs"), read_cases(__file__, "needs.jsonl"))
def test_a_run_needs_the_resources_of_its_model(settings, model, needs):
    assert needs_of(run_of_partition(model), settings) == needs


def test_a_run_over_a_raw_data_set_needs_no_model(settings: Settings) -> None:
    planned = run_of_partition("Jigsaw")._replace(
        execution_plan_snapshot_id="of steps without a pool"
    )
    assert needs_of(planned, settings) == {"cpu": 1}
