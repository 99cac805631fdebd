"""What must not be configured by half: something would be lost, and nobody told."""

from pathlib import Path

from bench_assets.core.errors import SettingsError
from resources.settings.cluster_settings import ClusterSettings
from resources.settings.storage_settings import StorageSettings


def require_whole(file: Path, storage: StorageSettings, cluster: ClusterSettings) -> None:
    """Look whether runs that are sent elsewhere have everything in common with us.

    Raises:
        SettingsError: If what they do would be missing here.
    """
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
