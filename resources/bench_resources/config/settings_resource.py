"""Settings as a Dagster resource."""

from pathlib import Path

import dagster as dg

from bench_resources.config.bench_toml import Settings, load_settings


class HomeSettings(dg.ConfigurableResource[Settings]):
    """``bench.toml``: read when a run starts or a sensor ticks, so that a UI sees changes."""

    home: str

    def create_resource(self, context: dg.InitResourceContext) -> Settings:
        """Read the file.

        Raises:
            SettingsError: If the file or one of its entries is invalid.
        """
        return load_settings(Path(self.home))
