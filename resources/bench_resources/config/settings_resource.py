"""Settings as a Dagster resource, with overrides of one command."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import dagster as dg
from pydantic import Field, PrivateAttr

from bench_resources.config.addresses import source_of
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.sections.benchmarks import AuditSettings
from bench_resources.config.sections.engine_kinds import read_model_section


class SettingsResource(dg.ConfigurableResource[Any]):
    """``bench.toml``, read anew at every run, so that a running UI sees its changes."""

    home: str
    sources: dict[str, str] = Field(default_factory=dict)
    """Suite -> source, overriding the file."""
    suites: dict[str, dict[str, str]] = Field(default_factory=dict)
    """Suite -> settings, overriding the file."""
    models: dict[str, Any] = Field(default_factory=dict)
    """Ad-hoc model -> section."""

    accept: list[str] = Field(default_factory=list)
    """Accepted outcomes, in addition to the file's."""

    training: list[str] = Field(default_factory=list)
    """Training data of models, overriding the file."""

    _written: Settings | None = PrivateAttr(default=None)

    def holding(self, written: Settings) -> Self:
        """The same overrides of a file that was read already, for the length of one command."""
        held = self.fresh()
        held._written = written
        return held

    def with_sources(self, sources: Mapping[str, str]) -> Self:
        """The same overrides, and sources of suites for which none was named."""
        changed = self.model_copy(update={"sources": {**sources, **self.sources}})
        return changed.holding(self.read())

    def fresh(self) -> Self:
        """The same overrides of the file as it is now."""
        return type(self)(**{name: getattr(self, name) for name in type(self).model_fields})

    def read(self) -> Settings:
        """The file's settings, without the overrides.

        Raises:
            SettingsError: If the file or one of its entries is invalid.
        """
        return self._written or load_settings(Path(self.home))

    def load(self) -> Settings:
        """The file's settings, with the overrides.

        Raises:
            SettingsError: If the file or one of its entries is invalid.
        """
        written = self.read()
        suites = {
            name: {**written.suites.get(name, {}), **self.suites.get(name, {})}
            for name in {**written.suites, **self.suites}
        }
        sources = {**written.sources, **{k: source_of(v) for k, v in self.sources.items()}}
        ad_hoc_models = {name: read_model_section(section) for name, section in self.models.items()}
        accept = (*written.accept, *self.accept)
        update = {"suites": suites, "sources": sources, "accept": accept}
        changed = written.model_copy(update=update)
        if self.training:
            named = AuditSettings(training=[str(Path(one).absolute()) for one in self.training])
            changed = changed.model_copy(update={"audit": named})
        return changed.with_ad_hoc_models(ad_hoc_models) if ad_hoc_models else changed
