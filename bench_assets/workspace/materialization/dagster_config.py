"""Writes ``dagster.yaml`` of a home, which Dagster's processes read.

It merges the file beside this module, the settings of bench.toml, and ``dagster.site.yaml`` beside
bench.toml, which overrides the others.
"""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.cluster import MAX_RUNS
from bench_resources.models.registry.named_models import model_pools
from bench_resources.runs.run_pools import tag_limits
from bench_resources.storage.atomic_write import open_atomic

SITE = "dagster.site.yaml"
_SHIPPED = files(__package__) / "dagster.yaml"

_HEADER = (
    "# Rewritten by every command, from the packaged dagster.yaml, [storage] and [cluster] of"
    f" bench.toml,\n# and {SITE} beside it. Put additions there.\n"
)
_RESERVED = {
    "storage": "[storage] of bench.toml",
    "run_storage": "[storage] of bench.toml",
    "event_log_storage": "[storage] of bench.toml",
    "schedule_storage": "[storage] of bench.toml",
    "local_artifact_storage": "BENCH_HOME",
    "instance_class": "bench",
    "bench": "[cluster] and [storage] of bench.toml",
}
"""Entries that ``dagster.site.yaml`` may not set, each with its origin."""

_START_SECONDS = 300  # s: start_timeout_seconds of dagster.yaml beside this module
_INSTANCE = {"module": "bench_resources.runs.dagster_instance", "class": "HomeInstance"}
_COORDINATOR = {"module": "bench_resources.runs.run_pools", "class": "PoolCoordinator"}


def write_dagster_yaml(folder: Path, settings: Settings) -> None:
    """Write Dagster's configuration to ``folder``, unless it is up to date.

    Raises:
        SettingsError: If ``dagster.site.yaml`` is not a mapping, or sets a reserved entry.
        HomeError: If it cannot be written.
    """
    file, text = folder / "dagster.yaml", _dagster_yaml(folder, settings)
    if not file.is_file() or file.read_text(encoding="utf-8", errors="replace") != text:
        with open_atomic(file, sync=False) as out:  # atomic, because other processes may read it
            out.write(text.encode())


def site_file(settings: Settings) -> Path:
    """Path of ``dagster.site.yaml``."""
    return settings.home / SITE


def _dagster_yaml(folder: Path, settings: Settings) -> str:
    """Text of the file: the shipped one and the storage; with other settings, all merged."""
    shipped = _SHIPPED.read_text(encoding="utf-8")
    home = _storage_config(folder, settings)
    site, cluster = _site_config(settings), _cluster_config(settings)
    if not site and not cluster:
        return f"{shipped}\n{yaml.safe_dump(home, sort_keys=False)}"
    config = _merge(_merge(yaml.safe_load(shipped) | home, cluster), site)
    return f"{_HEADER}{yaml.safe_dump(config, sort_keys=False, allow_unicode=True)}"


def _storage_config(folder: Path, settings: Settings) -> dict[str, Any]:
    """Settings of the instance and its storage; no addresses, which launchers would pass on."""
    bench: dict[str, Any] = {"folder": str(folder)}
    storage: dict[str, Any] = {"sqlite": {"base_dir": str(folder)}}
    if pools := model_pools(settings):
        bench["pool_of"] = pools
    if settings.storage.shares_records:
        require_extra(f"{settings.file}, [storage] database,", "dagster_postgres")
        bench["database"] = settings.storage.variable
        storage = {
            "custom": _configurable_class(
                "bench_resources.cluster.dagster_postgres",
                "SharedPostgresStorage",
                variable=settings.storage.variable,
            )
        }
    return {"instance_class": _INSTANCE, "bench": bench, "storage": storage}


def _cluster_config(settings: Settings) -> dict[str, Any]:
    """Settings from [storage] and [cluster], except the instance's storage."""
    cluster = settings.cluster
    config: dict[str, Any] = {}
    if cluster.runs != MAX_RUNS:
        config["concurrency"] = {"runs": {"max_concurrent_runs": cluster.runs}}
    if pools := model_pools(settings):
        config["run_coordinator"] = _COORDINATOR
        runs = config.setdefault("concurrency", {}).setdefault("runs", {})
        shipped_runs = yaml.safe_load(_SHIPPED.read_text(encoding="utf-8"))["concurrency"]["runs"]
        runs["tag_concurrency_limits"] = [
            *shipped_runs["tag_concurrency_limits"],
            *tag_limits(pools, cluster.limits),
        ]
    if settings.storage.shares_records:
        monitoring = {"poll_interval_seconds": 10}  # a heartbeat is lost after 30 s
        if cluster.room_seconds:
            monitoring["start_timeout_seconds"] = _START_SECONDS + cluster.room_seconds
        config["run_monitoring"] = monitoring
    if cluster.launcher == "ray":
        require_extra(f"{settings.file}, [cluster] launcher,", "dagster_ray")
        config["run_launcher"] = _configurable_class(
            "bench_resources.cluster.ray_launcher", "RayLauncher", ray={"address": cluster.address}
        )
    if cluster.launcher == "slurm":
        config["run_launcher"] = _configurable_class(
            "bench_resources.cluster.slurm_launcher", "SlurmLauncher"
        )
    return config


def _configurable_class(module: str, name: str, **config: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"module": module, "class": name, "config": config}


def _site_config(settings: Settings) -> dict[str, Any]:
    """Settings of ``dagster.site.yaml``; empty without the file."""
    file = site_file(settings)
    try:
        config = yaml.safe_load(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SettingsError(f"{file}: cannot be read: {' '.join(str(error).split())}") from error
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise SettingsError(f"{file}: expected a mapping, as in dagster.yaml")
    for name, origin in _RESERVED.items():
        if name in config:
            raise SettingsError(f"{file}, entry {name}: set by {origin}. Remove it here")
    return config


def _merge(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two configurations: mappings by key; other values are replaced.

    >>> _merge({"a": {"b": 1, "c": 2}, "d": [3]}, {"a": {"c": 4}, "d": [5]})
    {'a': {'b': 1, 'c': 4}, 'd': [5]}
    """
    merged = {**base, **override}
    for name in base.keys() & override.keys():
        if isinstance(base[name], Mapping) and isinstance(override[name], Mapping):
            merged[name] = _merge(base[name], override[name])
    return merged
