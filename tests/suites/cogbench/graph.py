"""The assets of CogBench over one home folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.suites.cogbench.assets import construction, description, vqa
from tests.fakes.home import Home

MODULES = (construction, description, vqa)
STUDIES = ("human", "oracle")
ASSETS: Sequence[Any] = dg.load_assets_from_modules(MODULES)
LEFT = dg.AssetSelection.assets(
    *(
        key
        for asset in ASSETS
        if asset.partitions_def is None
        for key in asset.keys
        if key.path[-1] not in STUDIES
    )
)


class Bench(Home):
    """A home folder with CogBench's tables."""

    def __init__(self, folder: Path, source: Path | None = None, **chosen: Any) -> None:
        super().__init__(folder, "cogbench", source, **chosen)

    def run(self, selection: dg.AssetSelection, model: str | None = None) -> Mapping[str, bool]:
        """Run assets and checks; says which checks passed."""
        known = {key for asset in ASSETS for key in asset.keys}
        inputs = {key for asset in ASSETS for keys in asset.asset_deps.values() for key in keys}
        specs = [dg.AssetSpec(key, partitions_def=MODELS) for key in inputs - known]
        checks = dg.load_asset_checks_from_modules(MODULES)
        result = self.materialize([*ASSETS, *checks, *specs], selection, model)
        return {row.check_name: row.passed for row in result.get_asset_check_evaluations()}

    def rows(self, name: str, row_type: type[Any], model: str = "") -> list[Any]:
        """Rows of a table, by its name below the suite."""
        return self.read(row_type, *name.split("/"), model=model)
