"""The left half of MULTI over a home folder of its own."""

import dagster as dg

from bench_assets.suites.multi.assets import ablations as ablation_assets
from bench_assets.suites.multi.assets import construction as build_assets
from bench_assets.suites.multi.assets import knowledge as knowledge_assets
from bench_assets.suites.multi.assets import questions as assets
from tests.home import Home

LEFT_HALF = dg.load_assets_from_modules([assets, build_assets, ablation_assets, knowledge_assets])


class Bench(Home):
    """The left half over a home folder of its own."""

    def __init__(self, home, source=None, written=""):
        super().__init__(home, "multi", source, written)

    def build(self, selection=None):
        """Make everything, or what is selected with all that it comes of."""
        selection = selection and selection.upstream().required_multi_asset_neighbors()
        return self.materialize(LEFT_HALF, selection)
