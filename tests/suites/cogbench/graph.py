from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.suites.cogbench.assets import construction, description, vqa
from tests.fakes.home import Home

MODULES = (construction, description, vqa)
STUDIES = ("human", "oracle")
ASSETS: Sequence[Any] = dg.load_assets_from_modules(MODULES)
# What is built before any model responds.
DATASET_ASSETS = dg.AssetSelection.assets(
    *(
        key
        for asset in ASSETS
        if asset.partitions_def is None
        for key in asset.keys
        if key.path[-1] not in STUDIES
    )
)


class Bench(Home):
    def __init__(self, folder: Path, source: Path | None = None, **chosen: Any) -> None:
        super().__init__(folder, "cogbench", source, **chosen)

    def materialize_and_check(self, selection, model=None):
        """Materialize assets, run their checks, and return by name whether a check passed."""
        asset_keys = {key for asset in ASSETS for key in asset.keys}
        dependencies = [keys for asset in ASSETS for keys in asset.asset_deps.values()]
        external_keys = set().union(*dependencies) - asset_keys
        specs = [dg.AssetSpec(key, partitions_def=MODELS) for key in external_keys]
        checks = dg.load_asset_checks_from_modules(MODULES)
        result = self.materialize([*ASSETS, *checks, *specs], selection, model)
        evaluations = result.get_asset_check_evaluations()
        return {evaluation.check_name: evaluation.passed for evaluation in evaluations}

    def rows(self, name: str, row_type: type[Any], model: str = "") -> list[Any]:
        """Rows of a table, by its path below the suite, such as "vqa/questions"."""
        return self.read(row_type, *name.split("/"), model=model)
