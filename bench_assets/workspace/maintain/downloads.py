"""Downloads of releases into the home."""

from pathlib import Path

from bench_assets.core.schema.errors import SettingsError
from bench_assets.evaluation.suite import Suite
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.cache import ReleaseCache
from bench_resources.datasets.download import DownloadLog
from bench_resources.datasets.hub import HubRelease, Release, parse_release_address, pin_release
from bench_resources.datasets.source_files import configured_release


def fetch_release(settings: Settings, suite: Suite, address: str) -> tuple[Release, Path]:
    """Download a suite's release unless the home has it; returns the release and its folder.

    Without an address, that of bench.toml is used, else the suite's default.

    Raises:
        SettingsError: If no address is known, for example because of the licence.
        SourceError: If the release cannot be downloaded completely.
    """
    release = (
        parse_release_address(address) if address else configured_release(settings, suite.name)
    )
    if not release and not suite.release:
        raise SettingsError(f"{suite.name}: {suite.by_hand or 'no release address is known'}")
    release = release or parse_release_address(suite.release)
    if isinstance(release, HubRelease):
        release = pin_release(release)
    return release, ReleaseCache(settings.home).fetch(suite.name, release, DownloadLog())
