"""Where the originals of each suite lie."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.core.errors import SourceError
from resources.settings_file import SettingsFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The folder a suite is read from, never written to unless it is the mini edition's."""

    folder: Path
    is_mini: bool  # no folder is configured: the leaf draws its mini edition into this one


class SourceFiles(dg.ConfigurableResource[Any]):
    """One source folder for each suite, from the settings."""

    settings: SettingsFile

    def open(self, suite: str) -> Source:
        """Find the folder of a suite; without one in the settings, the mini edition's.

        Raises:
            SourceError: If the configured folder does not exist.
        """
        settings = self.settings.load()
        if suite not in settings.sources:
            return Source(folder=settings.home / "mini" / suite, is_mini=True)
        folder = settings.resolve(settings.sources[suite])
        if not folder.is_dir():
            raise SourceError(f"{folder}: no such folder; it is the source of {suite}")
        return Source(folder=folder, is_mini=False)
