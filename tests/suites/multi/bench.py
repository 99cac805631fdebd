from collections.abc import Sequence
from typing import Any

import dagster as dg

from bench_assets.suites.multi.assets import ablations, construction, questions
from tests.fakes.home import Home

ASSETS: Sequence[Any] = dg.load_assets_from_modules([questions, construction, ablations])
LEFT_HALF = [asset for asset in ASSETS if asset.partitions_def is None]


class Bench(Home):
    """The dataset build over a home folder of its own."""

    def __init__(self, home, source=None, toml=""):
        super().__init__(home, "multi", source, toml)

    def build(self, selection=None):
        """Materialize everything, or a selection with all its upstream assets."""
        selection = selection and selection.upstream().required_multi_asset_neighbors()
        return self.materialize(LEFT_HALF, selection)
