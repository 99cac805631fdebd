"""The left half of MULTI over a home folder of its own."""

import dagster as dg

from bench_assets.multi import ablation_assets, assets, build_assets
from resources.images import ImageStore
from resources.models import Models
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import RowTables, TableFiles

LEFT_HALF = dg.load_assets_from_modules([assets, build_assets, ablation_assets])


class Bench:
    """The left half over a home folder of its own."""

    def __init__(self, home, source=None):
        self.settings = SettingsFile(
            home=str(home), sources={"multi": str(source)} if source else {}
        )
        self.tables = TableFiles(folder=str(home / "tables"))
        self.images = ImageStore(folder=str(home / "images"))
        self.resources = {
            "settings": self.settings,
            "sources": SourceFiles(settings=self.settings),
            "images": self.images,
            "tables": self.tables,
            "models": Models(settings=self.settings, images=self.images),
            "io_manager": RowTables(files=self.tables),
        }

    def build(self, selection=None, run_config=None):
        with dg.DagsterInstance.ephemeral() as instance:
            return dg.materialize(
                LEFT_HALF,
                selection=selection,
                instance=instance,
                resources=self.resources,
                run_config=run_config,
            )

    def read(self, row_type, *key):
        return self.tables.read(["multi", *key], row_type)
