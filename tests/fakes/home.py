"""A home folder of its own, and the assets of a suite over it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.asset_factory.suite_assets import ENCODERS, MODELS, range_tags
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, TableIOManager


def models_of(home: Path, toml: str = "", **fields: Any) -> Models:
    """The models of a home, with a bench.toml if one is given."""
    if toml:
        (home / "bench.toml").write_text(toml, encoding="utf-8")
    images = ImageStore(folder=str(home / "images"))
    return Models(settings=load_settings(home), image_store=images, **fields)


class Home:
    """One suite's settings, tables and images."""

    def __init__(
        self,
        folder: Path,
        suite: str,
        source: Path | None = None,
        written: str = "",
        **chosen: object,
    ) -> None:
        """Write ``written`` to bench.toml; ``chosen`` replaces entries of its [suites.<suite>]."""
        if written:
            folder.mkdir(exist_ok=True)
            (folder / "bench.toml").write_text(written, encoding="utf-8")
        self.suite = suite
        settings = load_settings(folder).with_overrides(
            sources={suite: source} if source else {}, suites={suite: chosen} if chosen else {}
        )
        self.settings = settings
        self.tables = TableFiles(folder=str(folder / "tables"))
        self.images = ImageStore(folder=str(folder / "images"))
        self.export = folder / "export"
        self._rejected: dict[dg.AssetKey, dict[str, str]] = {}

    def materialize(
        self, assets: Sequence[Any], selection: Any = None, model: str | None = None, **more: Any
    ) -> dg.ExecuteInProcessResult:
        """Run assets and checks, for one model or all raw data sets where they have partitions."""
        partitions = (getattr(asset, "partitions_def", None) for asset in assets)
        static = (each for each in partitions if isinstance(each, dg.StaticPartitionsDefinition))
        parts = [] if model else next((each.get_partition_keys() for each in static), [])
        with dg.DagsterInstance.ephemeral() as instance:
            for models in (MODELS, ENCODERS):
                instance.add_dynamic_partitions(str(models.name), [model] if model else [])
            result = dg.materialize(
                assets,
                selection=selection,
                partition_key=model,
                instance=instance,
                tags=range_tags(parts),
                resources={
                    "settings": dg.ResourceDefinition.hardcoded_resource(self.settings),
                    "sources": SourceFiles(settings=self.settings),
                    "image_store": self.images,
                    "tables": self.tables,
                    "models": Models(settings=self.settings, image_store=self.images),
                    "io_manager": TableIOManager(files=self.tables),
                },
                **more,
            )
        self._rejected |= rejections_by_table(result)
        return result

    def rejected(self, *table: str) -> dict[str, str]:
        """Reasons of rejected rows in the metadata of a table of the suite, by entry."""
        return self._rejected[dg.AssetKey([self.suite, *table])]

    def read(self, row_type: type[Any], *table: str, model: str = "") -> list[Any]:
        """Rows of a table of the suite."""
        return self.tables.read([self.suite, *table], row_type, model)


def rejections_by_table(result: dg.ExecuteInProcessResult) -> dict[dg.AssetKey, dict[str, str]]:
    """Reasons of rejected rows in the metadata of the tables that a run made, by entry."""
    reasons = {}
    for event in result.get_asset_materialization_events():
        table = event.materialization.metadata.get("rejections")
        if isinstance(table, dg.TableMetadataValue):
            rows = [record.data for record in table.records]
            key = event.materialization.asset_key
            reasons[key] = {str(row["entry"]): str(row["reason"]) for row in rows}
    return reasons
