"""MULTI as a suite."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_assets.core.schema.published_numbers import read_claims
from bench_assets.evaluation.suite import Suite
from bench_assets.suites.multi.construction.annotation import ANNOTATION_TASKS
from bench_assets.suites.multi.settings import MultiSettings
from bench_assets.suites.multi.task import TASK


def _assets() -> Sequence[Any]:
    from bench_assets.asset_factory.suite_assets import loaded
    from bench_assets.suites import multi

    return loaded(multi)


SUITE = Suite(
    name="multi",
    tasks=(TASK,),
    assets=_assets,
    published=Path(__file__).with_name("published.csv"),
    settings=MultiSettings,
    release="hf:OpenDFM/MULTI-Benchmark@main",
    annotation_tasks=ANNOTATION_TASKS,
    claims=read_claims(Path(__file__).with_name("claims.toml")),
    licence="https://opensource.org/license/mit",
)
