"""JourneyBench as a suite."""

from functools import partial
from pathlib import Path

from bench_assets.annotation.gold import proposal_task
from bench_assets.evaluation.suite import Suite
from bench_assets.suites import load_assets
from bench_assets.suites.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.suites.journeybench.construction.annotation import ANNOTATION_TASKS
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK as HALLUCINATION_VQA
from bench_assets.suites.journeybench.mcot.number_proposals import NUMBERS
from bench_assets.suites.journeybench.mcot.task import TASK as MCOT
from bench_assets.suites.journeybench.multi_image_vqa.task import TASK as MULTI_IMAGE_VQA
from bench_assets.suites.journeybench.published_files import require_source
from bench_assets.suites.journeybench.retrieval.task import TASK as RETRIEVAL
from bench_assets.suites.journeybench.settings import JourneyBenchSettings

SUITE = Suite(
    name="journeybench",
    tasks=(CAPTIONING, MCOT, MULTI_IMAGE_VQA, HALLUCINATION_VQA, RETRIEVAL),
    assets=partial(load_assets, "journeybench"),
    published=Path(__file__).with_name("published.csv"),
    expectations=Path(__file__).with_name("expectations.toml"),
    require_source=require_source,
    settings=JourneyBenchSettings,
    by_hand="its licence forbids passing the data on: download the files from the authors' page "
    "into a folder, and name it in [sources] of bench.toml (README, Data and licence)",
    annotation_tasks=(*ANNOTATION_TASKS, proposal_task(NUMBERS)),
    gold=NUMBERS,
    licence="https://creativecommons.org/licenses/by-nc-nd/4.0/",
)
