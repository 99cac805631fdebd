"""What ``bench fetch`` and ``bench home`` do: releases come into the home, and what lies there."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.errors import SettingsError
from bench_assets.suite import Suite
from resources.settings.bench_toml import Settings
from resources.sources.addresses import HubRelease, Release, read_address
from resources.sources.cache import ReleaseCache
from resources.sources.fetching import FetchingBar, LoggedFetching
from resources.sources.hub import pinned
from resources.sources.source_files import configured_release

_ABOUT = {
    "tables": "tables of the graph, as Parquet",
    "images": "pictures, by the digest of their bytes",
    "mini": "raw material of the mini editions",
    "painted": "pictures that were painted",
    "replies.sqlite": "every reply of a model",
    "vectors.sqlite": "vectors of texts and pictures",
    "dagster": "runs and events of Dagster",
    "locks": "held by processes that evaluate",
    "export": "the leaderboard for others",
    "bench.toml": "what is configured",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Something that lies in a home."""

    what: str
    about: str
    n_files: int
    megabytes: float
    path: str


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
    release = read_address(address) if address else configured_release(settings, suite.name)
    if not release and not suite.release:
        raise SettingsError(f"{suite.name}: {suite.by_hand or 'no address of a release is known'}")
    release = release or read_address(suite.release)
    if isinstance(release, HubRelease):
        release = pinned(release)
    cache = ReleaseCache(settings.home)
    if not bar:
        return release, cache.fetch(suite.name, release, LoggedFetching())
    with closing(FetchingBar()) as drawn:
        return release, cache.fetch(suite.name, release, drawn)


def kept(home: Path) -> list[Kept]:
    """List what lies in a home, releases one by one; the largest first."""
    releases = [
        Kept(
            what=f"sources/{suite}",
            about=one.address + (f" at {one.commit}" if one.commit else ""),
            n_files=len(one.files),
            megabytes=round(one.n_bytes / 1e6, 1),
            path=str(folder),
        )
        for suite, one, folder in ReleaseCache(home).all()
    ]
    others = [
        Kept(
            what=entry.name,
            about=_ABOUT.get(entry.name, ""),
            n_files=len(files),
            megabytes=round(sum(file.stat().st_size for file in files) / 1e6, 1),
            path=str(entry),
        )
        for entry in (home.iterdir() if home.is_dir() else ())
        if entry.name != "sources"
        for files in [_files(entry)]
    ]
    return sorted([*releases, *others], key=lambda one: (-one.megabytes, one.what))


def _files(entry: Path) -> list[Path]:
    return [entry] if entry.is_file() else [file for file in entry.rglob("*") if file.is_file()]
