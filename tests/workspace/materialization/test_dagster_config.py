"""What Dagster is told of a home: the checkout's words, what bench.toml changes, a site's own."""

from pathlib import Path

import pytest
import yaml

from bench_assets.core.schema.errors import SettingsError
from bench_assets.workspace.materialization.dagster_config import SITE, write_dagster_yaml
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_resources.config.bench_toml import load_settings
from bench_resources.runs.run_pools import PoolCoordinator
from tests.conftest import CHECKOUT

OURS = yaml.safe_load((CHECKOUT / "dagster.yaml").read_text(encoding="utf-8"))


def written(home: Path, toml: str = "", site: str = "") -> str:
    (home / "bench.toml").write_text(toml, encoding="utf-8")
    if site:
        (home / SITE).write_text(site, encoding="utf-8")
    write_dagster_yaml(home / "dagster", load_settings(home))
    return (home / "dagster" / "dagster.yaml").read_text(encoding="utf-8")


def test_without_sections_it_is_the_checkouts_byte_for_byte_and_where_it_is_recorded(
    tmp_path: Path,
) -> None:
    folder = str(tmp_path / "dagster")
    ours, text = (CHECKOUT / "dagster.yaml").read_text(encoding="utf-8"), written(tmp_path)
    assert text.startswith(ours)
    assert yaml.safe_load(text.removeprefix(ours)) == {
        "instance_class": {
            "module": "bench_resources.runs.dagster_instance",
            "class": "HomeInstance",
        },
        "bench": {"folder": folder},
        "storage": {"sqlite": {"base_dir": folder}},
    }
    file = tmp_path / "dagster" / "dagster.yaml"
    before = file.stat().st_ino
    written(tmp_path, "[cluster]\npools = { gpu = 2 }\n")  # which are no part of it
    assert file.stat().st_ino == before
    assert list((tmp_path / "dagster").iterdir()) == [file]


def test_runs_at_once_are_bench_tomls_and_all_else_is_the_checkouts(tmp_path: Path) -> None:
    found = yaml.safe_load(written(tmp_path, "[cluster]\nruns = 9\n"))
    assert found["concurrency"]["runs"].pop("max_concurrent_runs") == 9
    assert found["concurrency"]["runs"] == {
        name: value
        for name, value in OURS["concurrency"]["runs"].items()
        if name != "max_concurrent_runs"
    }
    of_the_home = ("instance_class", "bench", "storage")
    left = {name: value for name, value in found.items() if name not in of_the_home}
    assert {**left, "concurrency": 0} == {**OURS, "concurrency": 0}


def test_what_a_site_adds_is_kept_and_what_it_changes_is_its_own(tmp_path: Path) -> None:
    site = (
        "retention: {sensor: {purge_after_days: 7}}\n"
        "run_monitoring: {max_runtime_seconds: 3600}\n"
        "concurrency: {runs: {tag_concurrency_limits: [{key: team, limit: 1}]}}\n"
    )
    for _ in range(2):
        found = yaml.safe_load(written(tmp_path, "[cluster]\nruns = 9\n", site))
        assert found["retention"] == {"sensor": {"purge_after_days": 7}}
        assert found["run_monitoring"] == {**OURS["run_monitoring"], "max_runtime_seconds": 3600}
        assert found["concurrency"]["runs"] == {
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
def test_a_mistake_of_a_site_is_reported_with_its_file(
    tmp_path: Path, site: str, message: str
) -> None:
    (tmp_path / SITE).write_text(site, encoding="utf-8")
    with pytest.raises(SettingsError, match=rf"{SITE}.*{message}"):
        open_instance(tmp_path).dispose()


def test_pools_are_limited_by_name_and_again_when_they_change(tmp_path: Path) -> None:
    def limits(toml: str) -> dict[str, int]:
        (tmp_path / "bench.toml").write_text(toml, encoding="utf-8")
        with open_instance(tmp_path) as instance:
            pools = instance.event_log_storage.get_pool_limits()
            assert not any(pool.from_default for pool in pools)
            return {pool.name: pool.limit for pool in pools}

    assert limits("") == {"gpu": 1, "judge": 4, "server": 4}
    wide = limits("[cluster]\npools = { gpu = 8, gpu-80gb = 2 }\n")
    assert wide == {"gpu": 8, "judge": 4, "server": 4, "gpu-80gb": 2}
    assert limits("") == {"gpu": 1, "judge": 4, "server": 4, "gpu-80gb": 2}


def test_a_pool_of_some_models_limits_their_runs_by_a_tag(tmp_path: Path) -> None:
    text = '[cluster]\npools = { gpu-80gb = 2 }\npool_of = { "big-*" = "gpu-80gb" }\n'
    found = yaml.safe_load(written(tmp_path, text))
    ours = OURS["concurrency"]["runs"]["tag_concurrency_limits"]
    assert found["concurrency"]["runs"]["tag_concurrency_limits"] == [
        *ours,
        {"key": "bench/pool", "value": "gpu", "limit": 1},
        {"key": "bench/pool", "value": "gpu-80gb", "limit": 2},
    ]
    with open_instance(tmp_path) as instance:
        assert isinstance(instance.run_coordinator, PoolCoordinator)
        pools = instance.event_log_storage.get_pool_limits()
    # Dagster's own pool lets through what the tags limit: one of gpu beside two of gpu-80gb.
    limits = {pool.name: pool.limit for pool in pools}
    assert limits == {"gpu": 3, "gpu-80gb": 2, "judge": 4, "server": 4}


def test_what_is_missing_for_shared_records_is_reported_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [str(CHECKOUT)])
    monkeypatch.setattr("sys.path_importer_cache", {})
    shared = '[storage]\ndatabase = "env:TEAM_DATABASE"\nobjects = "file:///mnt/shared"\n'
    with pytest.raises(SettingsError, match=r"needs dagster_postgres, which is not installed"):
        written(tmp_path, shared)
