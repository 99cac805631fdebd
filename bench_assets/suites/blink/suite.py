"""BLINK as a suite."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_assets.core.schema.published_numbers import read_claims
from bench_assets.evaluation.suite import Suite
from bench_assets.suites.blink.annotation import ANSWER_CHECK, HUMAN
from bench_assets.suites.blink.construction.marked_points import IQ_IMAGES, POINTS
from bench_assets.suites.blink.settings import BlinkSettings
from bench_assets.suites.blink.task import TASK


def _assets() -> Sequence[Any]:
    from bench_assets.asset_factory.suite_assets import loaded
    from bench_assets.suites import blink

    return loaded(blink)


SUITE = Suite(
    name="blink",
    tasks=(TASK,),
    assets=_assets,
    published=Path(__file__).with_name("published.csv"),
    settings=BlinkSettings,
    release="hf:BLINK-Benchmark/BLINK@main",
    annotation_tasks=(ANSWER_CHECK, HUMAN, *POINTS, IQ_IMAGES),
    claims=read_claims(Path(__file__).with_name("claims.toml")),
    licence="https://www.apache.org/licenses/LICENSE-2.0",
)
