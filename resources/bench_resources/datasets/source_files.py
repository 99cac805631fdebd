"""Source folders of the suites, and the locations of the tables built from them.

Each source has its own location, so that tables of one source never replace those of another. The
mini edition's tables are in ``tables`` itself, those of a configured source below ``tables/.of``.
The source in bench.toml (or ``--source``) is current; tables of other sources stay, and the
leaderboard lists them too.
"""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg

from bench_assets.core.schema.errors import SettingsError, SourceError
from bench_assets.core.schema.rows import Edition
from bench_resources.config.addresses import is_release_address
from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import expand_user
from bench_resources.tables.locations import SOURCES_FOLDER
from bench_resources.tables.parquet import TableFiles

if TYPE_CHECKING:
    from bench_resources.datasets.hub import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteSource:
    """Source of a suite, read-only except for the mini edition's."""

    folder: Path  # for a benchmark without Python, its file or folder
    is_mini: bool  # no source is configured: the suite generates its mini edition in this folder

    def edition(self, *, published: bool, whole: bool) -> Edition:
        """Determine the edition of questions from this source.

        Args:
            published: Whether they come from the authors' files, or ones in their format.
            whole: Whether they are a complete release; ignored for others than published ones.
        """
        if self.is_mini:
            return "mini"
        if not published:
            return "built"
        return "published" if whole else "own"


class SourceFiles(dg.ConfigurableResource[Any]):
    """Source folder of each suite, from the settings."""

    settings: dg.ResourceDependency[Settings]

    def open(self, suite: str) -> SuiteSource:
        """Open the source of a suite, as ``open_source``."""
        return open_source(suite, self.settings)


class HomeTables(dg.ConfigurableResource[TableFiles]):
    """The tables of the present sources: opened when a run starts or a sensor ticks."""

    settings: dg.ResourceDependency[Settings]

    def create_resource(self, context: dg.InitResourceContext) -> TableFiles:
        """Open the tables."""
        return tables_of(self.settings)


def open_source(suite: str, settings: Settings) -> SuiteSource:
    """Find the source of a suite; the mini edition's folder if none is configured.

    A release is downloaded, unless it is in the home already.

    Raises:
        SourceError: If the configured file or folder does not exist, or the release cannot be
            fetched.
        SettingsError: If the configured address is invalid.
        HomeError: If the release cannot be written.
    """
    benchmark = settings.benchmarks.get(suite)
    source = settings.sources.get(suite) or (benchmark.file if benchmark else None)
    if source is None:
        return SuiteSource(folder=settings.home / "mini" / suite, is_mini=True)
    if release := configured_release(settings, suite):
        from bench_resources.datasets.cache import ReleaseCache
        from bench_resources.datasets.download import DownloadLog

        cache = ReleaseCache(settings.home)
        return SuiteSource(folder=cache.fetch(suite, release, DownloadLog()), is_mini=False)
    folder = settings.resolve(source)
    if not (folder.is_dir() or (benchmark and folder.is_file())):
        expected = "file or folder" if benchmark else "folder"
        raise SourceError(f"{folder}: no such {expected}; it is the source of {suite}")
    return SuiteSource(folder=folder, is_mini=False)


def configured_release(settings: Settings, suite: str) -> "Release | None":
    """The release configured as a suite's source; None for a folder, or without a source.

    Raises:
        SettingsError: If its address is invalid.
    """
    benchmark = settings.benchmarks.get(suite)
    source = settings.sources.get(suite, "")
    where = f"{settings.file}, [sources], {suite}"
    if not source and benchmark:
        source = str(benchmark.file)
        where = f"{settings.section(suite)}, file"
    if not is_release_address(source):
        return None
    from bench_resources.datasets.hub import parse_release_address

    try:
        return parse_release_address(source)
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from error


_UNUSUAL = re.compile(r"[^A-Za-z0-9@.=-]+")
_READABLE = 40  # characters of a source's name in the name of its location


def tables_of(settings: Settings) -> TableFiles:
    """Open the tables of a home, for the configured sources."""
    return TableFiles(
        folder=str(settings.home / "tables"),
        places=table_locations(settings),
        **settings.storage.shared,
    )


def table_locations(settings: Settings) -> dict[str, str]:
    """Suite -> location of its tables, for suites with a configured source."""
    return {suite: _tables_location(source, settings) for suite, source in settings.sources.items()}


def _tables_location(source: str, settings: Settings) -> str:
    """Location of the tables of a source, by its path as the settings have it.

    A home may therefore be moved with or without its sources. If tables exist under the other form
    of the path (absolute or relative), as after ``--source``, their location is used.
    """
    if is_release_address(source):
        return location_name(source)
    path = settings.resolve(source).absolute()
    spellings = [str(path), os.path.relpath(path, settings.home.absolute())]
    if not expand_user(source).is_absolute():
        spellings.reverse()
    locations = [location_name(spelling) for spelling in spellings]
    existing = [name for name in locations if (settings.home / "tables" / name).is_dir()]
    return (existing or locations)[0]


def location_name(source: str) -> str:
    """Name the location of a source: the last part of its address, and a digest of all of it.

    >>> location_name("hf:BLINK-Benchmark/BLINK@6c1a")
    '.of/BLINK@6c1a-fe5584a8'
    """
    digest = hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    last = source.partition("#")[0].rstrip("/").rpartition("/")[2]
    name = _UNUSUAL.sub("-", last).strip("-.")[:_READABLE]
    return f"{SOURCES_FOLDER}/{name}-{digest}"
