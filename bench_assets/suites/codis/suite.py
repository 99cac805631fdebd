"""CODIS as a suite."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench_assets.core.schema.published_numbers import read_claims
from bench_assets.evaluation.suite import Suite
from bench_assets.suites.codis.annotation import ANNOTATION_TASKS
from bench_assets.suites.codis.settings import CodisSettings
from bench_assets.suites.codis.task import TASK


def _assets() -> Sequence[Any]:
    from bench_assets.asset_factory.suite_assets import loaded
    from bench_assets.suites import codis

    return loaded(codis)


SUITE = Suite(
    name="codis",
    tasks=(TASK,),
    assets=_assets,
    published=Path(__file__).with_name("published.csv"),
    settings=CodisSettings,
    release="https://github.com/THUNLP-MT/CODIS/archive/d070cf759c42676c88925004c83f1d81585675a7.zip#below=data",
    annotation_tasks=ANNOTATION_TASKS,
    claims=read_claims(Path(__file__).with_name("claims.toml")),
    licence="https://www.apache.org/licenses/LICENSE-2.0",
)
