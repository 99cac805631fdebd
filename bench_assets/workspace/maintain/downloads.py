"""Downloads of releases into the home."""

from contextlib import closing
from pathlib import Path

from bench_assets.core.schema.errors import SettingsError
from bench_assets.evaluation.suite import Suite
from resources.config.bench_toml import Settings
from resources.datasets.cache import ReleaseCache
from resources.datasets.download import DownloadBar, DownloadLog
from resources.datasets.hub import HubRelease, Release, parse_release_address, pin_release
from resources.datasets.source_files import configured_release


def fetch_release(
    settings: Settings, suite: Suite, address: str, *, bar: bool
) -> tuple[Release, Path]:
    """Fetch a suite's release, unless it is in the home, and say where it lies.

    Args:
        settings: Of the home.
        suite: Whose release.
        address: Where it is; "" is what bench.toml says, or else what the suite knows.
        bar: Draw a bar on the terminal.

    Raises:
        SettingsError: If there is no address: the licence may not allow one.
        SourceError: If the release cannot be fetched whole.
    """
    release = (
        parse_release_address(address) if address else configured_release(settings, suite.name)
    )
    if not release and not suite.release:
        raise SettingsError(f"{suite.name}: {suite.by_hand or 'no release address is known'}")
    release = release or parse_release_address(suite.release)
    if isinstance(release, HubRelease):
        release = pin_release(release)
    cache = ReleaseCache(settings.home)
    if not bar:
        return release, cache.fetch(suite.name, release, DownloadLog())
    with closing(DownloadBar()) as drawn:
        return release, cache.fetch(suite.name, release, drawn)
