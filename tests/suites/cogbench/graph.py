"""Runs assets of CogBench over one home folder, for tests."""

from pathlib import Path

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.suites.cogbench.assets import construction, description, vqa
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, TableIOManager

MODULES = (construction, description, vqa)
STUDIES = ("human", "oracle")
LEFT = dg.AssetSelection.assets(
    *(
        key
        for asset in dg.load_assets_from_modules(MODULES)
        if asset.partitions_def is None
        for key in asset.keys
        if key.path[-1] not in STUDIES
    )
)


class Home:
    """A home folder with its tables."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.tables = TableFiles(folder=str(home / "tables"))
        source = {"cogbench": settings.pop("source")} if "source" in settings else {}
        chosen = load_settings(home).with_overrides(sources=source, suites={"cogbench": settings})
        self._settings = chosen
        self._images = ImageStore(folder=str(home / "images"))

    def materialize(
        self, selection: dg.AssetSelection, model: str | None = None
    ) -> dict[str, bool]:
        """Run assets and checks; says which checks passed."""
        loaded = dg.load_assets_from_modules(MODULES)
        known = {key for asset in loaded for key in asset.keys}
        outside = {
            key for asset in loaded for keys in asset.asset_deps.values() for key in keys
        } - known
        specs = [dg.AssetSpec(key, partitions_def=MODELS) for key in outside]
        with dg.DagsterInstance.ephemeral() as instance:
            instance.add_dynamic_partitions(str(MODELS.name), [model] if model else [])
            result = dg.materialize(
                [*loaded, *dg.load_asset_checks_from_modules(MODULES), *specs],
                selection=selection,
                partition_key=model,
                instance=instance,
                resources={
                    "settings": dg.ResourceDefinition.hardcoded_resource(self._settings),
                    "sources": SourceFiles(settings=self._settings),
                    "image_store": self._images,
                    "models": Models(settings=self._settings, image_store=self._images),
                    "tables": self.tables,
                    "io_manager": TableIOManager(files=self.tables),
                },
            )
        return {row.check_name: row.passed for row in result.get_asset_check_evaluations()}

    def rows(self, name: str, row_type: type, model: str = "") -> list:
        return self.tables.read(["cogbench", *name.split("/")], row_type, model)
