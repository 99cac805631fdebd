"""The CODIS suite."""

from functools import partial
from pathlib import Path

from bench_assets.evaluation.suite import Suite
from bench_assets.suites import load_assets
from bench_assets.suites.codis.annotation import ANNOTATION_TASKS
from bench_assets.suites.codis.dataset import find_release
from bench_assets.suites.codis.settings import CodisSettings
from bench_assets.suites.codis.task import TASK

SUITE = Suite(
    name="codis",
    tasks=(TASK,),
    assets=partial(load_assets, "codis"),
    published=Path(__file__).with_name("published.csv"),
    expectations=Path(__file__).with_name("expectations.toml"),
    require_source=find_release,
    settings=CodisSettings,
    release="https://github.com/THUNLP-MT/CODIS/archive/d070cf759c42676c88925004c83f1d81585675a7.zip#below=data",
    annotation_tasks=ANNOTATION_TASKS,
    licence="https://www.apache.org/licenses/LICENSE-2.0",
)
