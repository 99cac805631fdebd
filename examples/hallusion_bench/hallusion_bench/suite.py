"""HallusionBench as a suite: what this package's entry point names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hallusion_bench
from bench_assets.evaluation.suite import Suite
from hallusion_bench.task import TASK


def _assets() -> Sequence[Any]:
    from bench_assets.asset_factory.suite_assets import loaded

    return loaded(hallusion_bench)


SUITE = Suite(
    name="hallusion_bench",
    tasks=(TASK,),
    assets=_assets,
    published=Path(__file__).with_name("published.csv"),
)
