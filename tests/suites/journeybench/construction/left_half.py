"""The left half of the suite, made in a folder of a test."""

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.suites.journeybench.assets import source as shared
from bench_assets.suites.journeybench.construction.assets import distractors
from bench_assets.suites.journeybench.construction.assets import images as assets
from bench_assets.suites.journeybench.mcot import assets as mcot
from bench_assets.suites.journeybench.multi_image_vqa import assets as multi_image_vqa
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, TableIOManager

TASKS = [mcot, multi_image_vqa]
LEFT = [shared, assets, distractors, *TASKS]


class Bench:
    """A home folder with the built route of every task."""

    def __init__(self, home, settings=""):
        home.mkdir(exist_ok=True)
        (home / "bench.toml").write_text(settings)
        self.home = home
        self.tables = TableFiles(folder=str(home / "tables"))
        self.images = ImageStore(folder=str(home / "images"))

    def build(self, selected, **how):
        settings = load_settings(self.home)
        resources = {
            "settings": settings,
            "sources": SourceFiles(settings=settings),
            "image_store": self.images,
            "models": Models(settings=settings, image_store=self.images),
            "tables": self.tables,
            "io_manager": TableIOManager(files=self.tables),
        }
        with dg.DagsterInstance.ephemeral() as instance:
            instance.add_dynamic_partitions(str(MODELS.name), ["m"])
            return dg.materialize(selected, instance=instance, resources=resources, **how)

    def rows(self, table, row_type, partition=""):
        return self.tables.read(["journeybench", *table.split("/")], row_type, partition)


def one(rows, **fields):
    """The single row with these values."""
    (row,) = [r for r in rows if all(getattr(r, name) == v for name, v in fields.items())]
    return row
