"""The CogBench suite."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench_assets.annotation.gold import proposal_task
from bench_assets.core.schema.rows import Metric, Prediction, Question
from bench_assets.evaluation.suite import HomeConfiguration, Suite
from bench_assets.suites import load_assets
from bench_assets.suites.cogbench.construction.annotation import ANNOTATION, MERGE_REVIEW
from bench_assets.suites.cogbench.dataset.source import find_release
from bench_assets.suites.cogbench.description.task import TASK as DESCRIPTION
from bench_assets.suites.cogbench.settings import CogbenchSettings
from bench_assets.suites.cogbench.vqa.annotation import HUMAN
from bench_assets.suites.cogbench.vqa.questions import WRITTEN
from bench_assets.suites.cogbench.vqa.task import TASK as VQA


def _measure_recognition(
    settings: HomeConfiguration,
    model: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
) -> list[Metric]:
    # Imported on use: the assets need Dagster, which an evaluation does without.
    from bench_assets.suites.cogbench.assets.description import measure_recognition

    return measure_recognition(settings, model, questions, predictions)


SUITE = Suite(
    name="cogbench",
    tasks=(replace(DESCRIPTION, measure_beside=_measure_recognition), VQA),
    assets=partial(load_assets, "cogbench"),
    published=Path(__file__).with_name("published.csv"),
    expectations=Path(__file__).with_name("expectations.toml"),
    require_source=find_release,
    settings=CogbenchSettings,
    by_hand="its authors provide the data for non-commercial research on request; put the files "
    "into a folder, and name it in [sources] of bench.toml (README, Release and licence)",
    annotation_tasks=(ANNOTATION, MERGE_REVIEW, proposal_task(WRITTEN), HUMAN),
    gold=WRITTEN,
    licence="non-commercial research, no transfer to third parties: its authors' LICENSE_DATASET",
)
