"""Models that are added to bench.toml become partitions; nothing is ever taken away."""

import dagster as dg
import pytest

from bench_assets.asset_factory.suite_assets import ENCODERS, MODELS
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.models_toml import save_models
from bench_resources.config.sections.models import DEMO_MODELS
from bench_sensors.configuration import new_partitions


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as one:
        yield one


def tick(instance, home):
    """Do as Dagster does with a tick; says what was new."""
    result = new_partitions(instance, load_settings(home))
    for one in result.dynamic_partitions_requests:
        instance.add_dynamic_partitions(one.partitions_def_name, list(one.partition_keys))
    return sorted(key for one in result.dynamic_partitions_requests for key in one.partition_keys)


def test_what_is_added_while_it_runs_becomes_a_partition_once(instance, tmp_path):
    file = tmp_path / "bench.toml"
    assert tick(instance, tmp_path) == sorted([*DEMO_MODELS, "random"])
    assert tick(instance, tmp_path) == []
    file.write_text('[models.mine]\nkind = "random"\n[suites.journeybench.encoders.clip]\n')
    assert tick(instance, tmp_path) == ["clip", "mine"]
    save_models(tmp_path, {"given/one@1": {"kind": "random"}})
    assert tick(instance, tmp_path) == ["given/one@1"]
    file.write_text("")
    assert tick(instance, tmp_path) == []
    assert {"mine", "given/one@1"} <= set(instance.get_dynamic_partitions(str(MODELS.name)))
    assert instance.get_dynamic_partitions(str(ENCODERS.name)) == ["random", "clip"]
