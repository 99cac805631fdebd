"""Settings as a Dagster resource."""

from pathlib import Path

import dagster as dg

from bench_resources.config.bench_toml import Settings, load_settings


class HomeSettings(dg.ConfigurableResource[Settings]):
    """``bench.toml``: read when a run starts or a sensor ticks, so that a UI sees changes."""

    home: str

    def create_resource(self, context: dg.InitResourceContext) -> Settings:
        """Read the file, as ``load_settings`` does."""
        return load_settings(Path(self.home))
