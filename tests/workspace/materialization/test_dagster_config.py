from pathlib import Path

import pytest
import yaml

from bench_assets.core.schema.errors import SettingsError
from bench_assets.workspace.materialization.dagster_config import SITE, write_dagster_yaml
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_resources.config.bench_toml import load_settings
from bench_resources.runs.run_pools import PoolCoordinator
from tests.conftest import CHECKOUT

CHECKOUT_CONFIG = yaml.safe_load((CHECKOUT / "dagster.yaml").read_text(encoding="utf-8"))


def write_config(home: Path, toml: str = "", site: str = "") -> str:
    """Write the settings of a home and Dagster's configuration from them; returns its text."""
    (home / "bench.toml").write_text(toml, encoding="utf-8")
    if site:
        (home / SITE).write_text(site, encoding="utf-8")
    write_dagster_yaml(home / "dagster", load_settings(home))
    return (home / "dagster" / "dagster.yaml").read_text(encoding="utf-8")


def test_without_settings_it_is_the_checkouts_text_and_the_folder(tmp_path: Path) -> None:
    folder = str(tmp_path / "dagster")
    checkout_text = (CHECKOUT / "dagster.yaml").read_text(encoding="utf-8")
    text = write_config(tmp_path)
    assert text.startswith(checkout_text)
    assert yaml.safe_load(text.removeprefix(checkout_text)) == {
        "instance_class": {
            "module": "bench_resources.runs.dagster_instance",
            "class": "HomeInstance",
        },
        "bench": {"folder": folder},
        "storage": {"sqlite": {"base_dir": folder}},
    }


def test_a_file_that_would_not_change_is_not_written_again(tmp_path: Path) -> None:
    write_config(tmp_path)
    file = tmp_path / "dagster" / "dagster.yaml"
    inode = file.stat().st_ino  # another one once the file is replaced
    write_config(tmp_path, "[cluster]\npools = { gpu = 2 }\n")  # pools are not in this file
    assert file.stat().st_ino == inode
    assert list((tmp_path / "dagster").iterdir()) == [file]


def test_bench_toml_sets_the_runs_at_once_and_all_else_is_the_checkouts(tmp_path: Path) -> None:
    config = yaml.safe_load(write_config(tmp_path, "[cluster]\nruns = 9\n"))
    runs = {**CHECKOUT_CONFIG["concurrency"]["runs"], "max_concurrent_runs": 9}
    assert config["concurrency"]["runs"] == runs
    for name in ("instance_class", "bench", "storage"):  # entries of the home
        del config[name]
    assert config == {**CHECKOUT_CONFIG, "concurrency": config["concurrency"]}


def test_what_a_site_adds_or_changes_is_kept(tmp_path: Path) -> None:
    site = (
        "retention: {sensor: {purge_after_days: 7}}\n"
        "run_monitoring: {max_runtime_seconds: 3600}\n"
        "concurrency: {runs: {tag_concurrency_limits: [{key: team, limit: 1}]}}\n"
    )
    text = write_config(tmp_path, "[cluster]\nruns = 9\n", site)
    assert write_config(tmp_path, "[cluster]\nruns = 9\n", site) == text
    config = yaml.safe_load(text)
    assert config["retention"] == {"sensor": {"purge_after_days": 7}}
    monitoring = {**CHECKOUT_CONFIG["run_monitoring"], "max_runtime_seconds": 3600}
    assert config["run_monitoring"] == monitoring
    assert config["concurrency"]["runs"] == {
        "max_concurrent_runs": 9,
        "tag_concurrency_limits": [{"key": "team", "limit": 1}],
    }
    with open_instance(tmp_path) as instance:
        assert instance.run_monitoring_max_runtime_seconds == 3600


@pytest.mark.parametrize(
    ("site", "message"),
    [
        ("- a list", "expected a mapping"),
        ("a: [1", "cannot be read: "),
        ("storage: {sqlite: {base_dir: /x}}", r"entry storage: set by \[storage\] of bench.toml"),
        ("run_storage: {}", r"entry run_storage: set by \[storage\] of bench.toml"),
        ("telemetri: {enabled: true}", "telemetri"),
        ("run_monitoring: {poll_interval_seconds: often}", "poll_interval_seconds"),
        ("run_queue: {max_concurrent_runs: 3}", "run_queue"),
    ],
)
def test_a_mistake_of_a_site_is_reported_by_file(tmp_path: Path, site: str, message: str) -> None:
    (tmp_path / SITE).write_text(site, encoding="utf-8")
    with pytest.raises(SettingsError, match=rf"{SITE}.*{message}"):
        open_instance(tmp_path).dispose()


def test_limits_of_pools_follow_the_settings(tmp_path: Path) -> None:
    def pool_limits(toml: str) -> dict[str, int]:
        (tmp_path / "bench.toml").write_text(toml, encoding="utf-8")
        with open_instance(tmp_path) as instance:
            pools = instance.event_log_storage.get_pool_limits()
            assert not any(pool.from_default for pool in pools)
            return {pool.name: pool.limit for pool in pools}

    assert pool_limits("") == {"gpu": 1, "judge": 4, "server": 4}  # defaults of [cluster] pools
    wide = pool_limits("[cluster]\npools = { gpu = 8, gpu-80gb = 2 }\n")
    assert wide == {"gpu": 8, "judge": 4, "server": 4, "gpu-80gb": 2}
    assert pool_limits("") == {"gpu": 1, "judge": 4, "server": 4, "gpu-80gb": 2}


def test_a_pool_of_some_models_limits_their_runs_by_a_tag(tmp_path: Path) -> None:
    toml = '[cluster]\npools = { gpu-80gb = 2 }\npool_of = { "big-*" = "gpu-80gb" }\n'
    config = yaml.safe_load(write_config(tmp_path, toml))
    assert config["concurrency"]["runs"]["tag_concurrency_limits"] == [
        *CHECKOUT_CONFIG["concurrency"]["runs"]["tag_concurrency_limits"],
        {"key": "bench/pool", "value": "gpu", "limit": 1},
        {"key": "bench/pool", "value": "gpu-80gb", "limit": 2},
    ]
    with open_instance(tmp_path) as instance:
        assert isinstance(instance.run_coordinator, PoolCoordinator)
        pools = instance.event_log_storage.get_pool_limits()
    # Dagster's own pool lets through what the tags limit: one of gpu beside two of gpu-80gb.
    limits = {pool.name: pool.limit for pool in pools}
    assert limits == {"gpu": 3, "gpu-80gb": 2, "judge": 4, "server": 4}


def test_a_package_that_shared_records_need_is_named_where_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [str(CHECKOUT)])
    monkeypatch.setattr("sys.path_importer_cache", {})
    shared = '[storage]\ndatabase = "env:TEAM_DATABASE"\nobjects = "file:///mnt/shared"\n'
    with pytest.raises(SettingsError, match=r"needs dagster_postgres, which is not installed"):
        write_config(tmp_path, shared)
