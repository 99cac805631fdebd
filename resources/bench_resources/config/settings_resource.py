"""Settings as Dagster resources."""

from pathlib import Path
from typing import Any, Self

import dagster as dg
from pydantic import PrivateAttr

from bench_resources.config.bench_toml import Settings, load_settings


class HomeSettings(dg.ConfigurableResource[Settings]):
    """``bench.toml`` for other resources: read when a run starts, so that a UI sees changes."""

    home: str

    def create_resource(self, context: dg.InitResourceContext) -> Settings:
        """Read the file.

        Raises:
            SettingsError: If the file or one of its entries is invalid.
        """
        return load_settings(Path(self.home))


class SettingsResource(dg.ConfigurableResource[Any]):
    """``bench.toml`` for assets and sensors: of a home folder, or as a command has read it."""

    home: str
    _held: Settings | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The settings that a command has read, with its overrides."""
        resource = cls(home=str(settings.home))
        resource._held = settings
        return resource

    def load(self) -> Settings:
        """The settings of the command; without one, those of the file as it is now.

        Raises:
            SettingsError: If the file or one of its entries is invalid.
        """
        return self._held or load_settings(Path(self.home))
