"""Validation across sections of bench.toml."""

from collections.abc import Mapping
from pathlib import Path

from bench_assets.core.schema.errors import SettingsError
from resources.config.sections.base import ModelSpec
from resources.config.sections.cluster import ClusterSettings, StorageSettings
from resources.config.sections.servers import ServerSpec


def require_whole(
    file: Path,
    storage: StorageSettings,
    cluster: ClusterSettings,
    models: Mapping[str, ModelSpec],
) -> None:
    """Look whether runs that are sent elsewhere have everything in common with us.

    Raises:
        SettingsError: If what they do would be missing here, or nobody would be told of servers.
    """
    for name, spec in models.items():
        if isinstance(spec, ServerSpec) and spec.reached_as and not storage.database:
            raise SettingsError(
                f'{file}, entry models.{name}.reached_as: [storage] database = "env:NAME" is'
                " missing, in which homes tell one another of their servers"
            )
    if cluster.launcher == "local":
        return
    said = f'{file}, entry cluster.launcher: "{cluster.launcher}" starts runs on other machines'
    if not storage.database:
        raise SettingsError(
            f'{said}; [storage] database = "env:NAME" is missing, without which what they did and'
            " were told would be recorded nowhere that this one looks"
        )
    if not storage.objects:
        raise SettingsError(
            f'{said}; [storage] objects = "s3://bucket/prefix" (or "file:///folder") is missing,'
            " without which tables that they write would be missing here, and the leaderboard be"
            " short of them without a word"
        )
