"""A home folder for one suite, whose assets a test materializes."""

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
        toml: str = "",
        **suite_settings: object,
    ) -> None:
        """Write bench.toml; ``suite_settings`` replace entries of its [suites.<suite>]."""
        if toml:
            folder.mkdir(exist_ok=True)
            (folder / "bench.toml").write_text(toml, encoding="utf-8")
        self.suite = suite
        settings = load_settings(folder).with_overrides(
            sources={suite: source} if source else {},
            suites={suite: suite_settings} if suite_settings else {},
        )
        self.settings = settings
        self.tables = TableFiles(folder=str(folder / "tables"))
        self.images = ImageStore(folder=str(folder / "images"))
        self.export = folder / "export"
        self._rejected: dict[dg.AssetKey, dict[str, str]] = {}

    def materialize(
        self, assets: Sequence[Any], selection: Any = None, model: str | None = None, **options: Any
    ) -> dg.ExecuteInProcessResult:
        """Run assets and checks for one model, or for all raw data sets without one."""
        partitions = (getattr(asset, "partitions_def", None) for asset in assets)
        static = [part for part in partitions if isinstance(part, dg.StaticPartitionsDefinition)]
        parts = static[0].get_partition_keys() if static and not model else []
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
                **options,
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
