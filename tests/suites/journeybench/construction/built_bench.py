from bench_assets.suites.journeybench.assets import source as shared
from bench_assets.suites.journeybench.construction.assets import distractors
from bench_assets.suites.journeybench.construction.assets import images as assets
from bench_assets.suites.journeybench.mcot import assets as mcot
from bench_assets.suites.journeybench.multi_image_vqa import assets as multi_image_vqa
from bench_resources.config.bench_toml import load_settings
from tests.fakes.home import Home

DATASET_MODULES = [shared, assets, distractors, mcot, multi_image_vqa]


class Bench(Home):
    """A home folder with the built route of every task."""

    def __init__(self, home, settings=""):
        home.mkdir(exist_ok=True)
        super().__init__(home, "journeybench", toml=settings)
        self.home = home

    def build(self, assets, selection=None, model=None):
        """Materialize assets with the current bench.toml."""
        self.settings = load_settings(self.home)
        return self.materialize(assets, selection, model)

    def rows(self, table, row_type, model=""):
        """Rows of a table, by its path below the suite, such as "mcot/questions"."""
        return self.read(row_type, *table.split("/"), model=model)
