"""The suite that the entry point of this package names."""

from collections.abc import Sequence
from typing import Any

import edited_pairs_bench
from bench_assets.evaluation.suite import Suite
from edited_pairs_bench.task import TASK


def _load_assets() -> Sequence[Any]:
    # Dagster is imported only when the graph is loaded.
    from bench_assets.asset_factory.suite_assets import load_package_assets

    return load_package_assets(edited_pairs_bench)


SUITE = Suite(name=edited_pairs_bench.NAME, tasks=(TASK,), assets=_load_assets)
