"""The MULTI suite."""

from functools import partial
from pathlib import Path

from bench_assets.evaluation.suite import Suite
from bench_assets.suites import load_assets
from bench_assets.suites.multi.construction.annotation import ANNOTATION_TASKS
from bench_assets.suites.multi.construction.transformations import TRANSFORMED
from bench_assets.suites.multi.dataset.source import find_release
from bench_assets.suites.multi.settings import MultiSettings
from bench_assets.suites.multi.task import TASK

SUITE = Suite(
    name="multi",
    tasks=(TASK,),
    assets=partial(load_assets, "multi"),
    published=Path(__file__).with_name("published.csv"),
    expectations=Path(__file__).with_name("expectations.toml"),
    require_source=find_release,
    settings=MultiSettings,
    release="hf:OpenDFM/MULTI-Benchmark@main",
    annotation_tasks=ANNOTATION_TASKS,
    gold=TRANSFORMED,
    licence="https://opensource.org/license/mit",
)
