"""The left half of the suite, made in a folder of a test."""

from bench_assets.suites.journeybench.assets import source as shared
from bench_assets.suites.journeybench.construction.assets import distractors
from bench_assets.suites.journeybench.construction.assets import images as assets
from bench_assets.suites.journeybench.mcot import assets as mcot
from bench_assets.suites.journeybench.multi_image_vqa import assets as multi_image_vqa
from bench_resources.config.bench_toml import load_settings
from tests.fakes.home import Home

TASKS = [mcot, multi_image_vqa]
LEFT = [shared, assets, distractors, *TASKS]


class Bench(Home):
    """A home folder with the built route of every task."""

    def __init__(self, home, settings=""):
        home.mkdir(exist_ok=True)
        super().__init__(home, "journeybench", written=settings)
        self.home = home

    def build(self, selected, selection=None, model=None):
        """Run assets with what bench.toml says now."""
        self.settings = load_settings(self.home)
        return self.materialize(selected, selection, model)

    def rows(self, table, row_type, model=""):
        return self.read(row_type, *table.split("/"), model=model)
