"""Source folders of the suites.

Where a suite's tables lie: each source has a place of its own, so that none replaces another's.

The mini edition's tables lie in ``tables`` itself, those of a named source below ``tables/.of``.
What bench.toml (or ``--source``) names is current; what was made of others stays where it is, and
the leaderboard shows it beside.
"""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.core.schema.errors import SettingsError, SourceError
from resources.config.addresses import is_release_address
from resources.config.bench_toml import Settings
from resources.config.settings_resource import SettingsResource
from resources.datasets.cache import ReleaseCache
from resources.datasets.download import DownloadLog
from resources.datasets.hub import Release, parse_release_address
from resources.tables.locations import SOURCES_FOLDER


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSource:
    """Source of a suite, read-only except for the mini edition's."""

    folder: Path  # of a benchmark without Python, its one file or folder
    is_mini: bool  # no folder is configured: the leaf draws its mini edition into this one


class SourceFiles(dg.ConfigurableResource[Any]):
    """Source folder of each suite, from the settings."""

    settings: SettingsResource

    def open(self, suite: str) -> SuiteSource:
        """Find the folder of a suite; without one in the settings, the mini edition's.

        A release that is named by its address is fetched, unless it is in the home already.

        Raises:
            SourceError: If the configured folder, or the file of a benchmark, does not exist; if
                the release cannot be fetched.
            SettingsError: If what is configured is no address.
        """
        settings = self.settings.load()
        benchmark = settings.benchmarks.get(suite)
        named = settings.sources.get(suite) or (benchmark.file if benchmark else None)
        if named is None:
            return SuiteSource(folder=settings.home / "mini" / suite, is_mini=True)
        if release := configured_release(settings, suite):
            cache = ReleaseCache(settings.home, unpacked_bytes=settings.storage.unpacked_bytes)
            return SuiteSource(folder=cache.fetch(suite, release, DownloadLog()), is_mini=False)
        folder = settings.resolve(named)
        if not (folder.is_dir() or (benchmark and folder.is_file())):
            what = "file or folder" if benchmark else "folder"
            raise SourceError(f"{folder}: no such {what}; it is the source of {suite}")
        return SuiteSource(folder=folder, is_mini=False)


def configured_release(settings: Settings, suite: str) -> Release | None:
    """The release that bench.toml names as a suite's source; None if it names a folder, or none.

    Raises:
        SettingsError: If what it names is no address.
    """
    benchmark = settings.benchmarks.get(suite)
    named, where = settings.sources.get(suite, ""), f"{settings.file}, [sources], {suite}"
    if not named and benchmark:
        named, where = str(benchmark.file), f"{settings.section(suite)}, file"
    if not is_release_address(named):
        return None
    try:
        return parse_release_address(named)
    except SettingsError as why:
        raise SettingsError(f"{where}: {why}") from why


_UNUSUAL = re.compile(r"[^A-Za-z0-9@.=-]+")
_READABLE = 40  # characters of a source's name that its place is called by


def table_locations(settings: Settings) -> dict[str, str]:
    """Suite -> the place of its tables; a suite whose source is not named has none."""
    return {suite: _place(named, settings) for suite, named in settings.sources.items()}


def _place(named: str, settings: Settings) -> str:
    """The path as written, so that a home may be moved with or without its sources.

    Where one was written otherwise before, as ``--source``, its place is kept.
    """
    if is_release_address(named):
        return location_name(named)
    path = settings.resolve(named).absolute()
    ways = [str(path), os.path.relpath(path, settings.home.absolute())]
    if not Path(named).expanduser().is_absolute():
        ways.reverse()
    found = [location_name(way) for way in ways]
    there = [place for place in found if (settings.home / "tables" / place).is_dir()]
    return (there or found)[0]


def location_name(source: str) -> str:
    """Name the place of a source: its own name, and a digest of the whole.

    >>> location_name("hf:BLINK-Benchmark/BLINK@6c1a")
    '.of/BLINK@6c1a-fe5584a8'
    """
    digest = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    last = source.partition("#")[0].rstrip("/").rpartition("/")[2]
    name = _UNUSUAL.sub("-", last).strip("-.")[:_READABLE]
    return f"{SOURCES_FOLDER}/{name}-{digest}"
