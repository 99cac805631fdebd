"""The BLINK suite."""

from functools import partial
from pathlib import Path

from bench_assets.evaluation.suite import Suite
from bench_assets.suites import load_assets
from bench_assets.suites.blink.annotation import ANSWER_CHECK, HUMAN
from bench_assets.suites.blink.construction.marked_points import IQ_IMAGES, MARKING_TASKS, TO_MARK
from bench_assets.suites.blink.construction.recipes import require_raw_folder
from bench_assets.suites.blink.dataset import find_route
from bench_assets.suites.blink.settings import RAW_DATA, BlinkSettings
from bench_assets.suites.blink.task import TASK


def _require_source(folder: Path) -> None:
    """Refuse a folder without the release, an answer key, raw data sets or images to mark."""
    if find_route(folder) == "raw" and not (folder / TO_MARK).is_dir():
        require_raw_folder(folder)


SUITE = Suite(
    name="blink",
    tasks=(TASK,),
    assets=partial(load_assets, "blink"),
    published=Path(__file__).with_name("published.csv"),
    expectations=Path(__file__).with_name("expectations.toml"),
    require_source=_require_source,
    settings=BlinkSettings,
    release="hf:BLINK-Benchmark/BLINK@main",
    raw_data=RAW_DATA,
    annotation_tasks=(ANSWER_CHECK, HUMAN, *MARKING_TASKS, IQ_IMAGES),
    licence="https://www.apache.org/licenses/LICENSE-2.0",
)
