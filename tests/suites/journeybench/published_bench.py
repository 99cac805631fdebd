from typing import Any

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.suites.journeybench.assets import source as shared
from bench_assets.suites.journeybench.captioning import assets as captioning
from bench_assets.suites.journeybench.captioning.dataset import CaptionedImage
from bench_assets.suites.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.suites.journeybench.hallucination_vqa import assets as hallucination
from bench_assets.suites.journeybench.hallucination_vqa.dataset import TriggerQuestion
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK as HALLUCINATION
from bench_assets.suites.journeybench.raw_material import (
    CaptionDecision,
    LookAlikeDecision,
    StatementDecision,
)
from bench_assets.suites.journeybench.retrieval import assets as retrieval
from tests.fakes.home import Home

EVALUATION_TABLES = ("predictions", "judgements", "scores", "metrics")
ASSETS: list[Any] = [
    *dg.load_assets_from_modules([shared, captioning, hallucination, retrieval]),
    *evaluation_assets(CAPTIONING),
    *evaluation_assets(HALLUCINATION),
]
# Tables of the built route, which are empty for a published source.
BUILT_TABLES = {
    "captioning/built": CaptionedImage,
    "hallucination_vqa/built": TriggerQuestion,
    "caption_decisions": CaptionDecision,
    "statement_decisions": StatementDecision,
    "look_alikes": LookAlikeDecision,
}


class Bench(Home):
    """A home folder with the assets of three tasks, without checks, which expect real counts."""

    def __init__(self, home, source):
        configuration = (
            f'[sources]\njourneybench = "{source}"\n[models.says-cat]\nkind = "scripted"\n'
            'says = "A cat drives a car."\n'
        )
        super().__init__(home, "journeybench", toml=configuration)
        self.source = source
        for table, row_type in BUILT_TABLES.items():
            self.tables.write(["journeybench", *table.split("/")], [], row_type)

    def build(self, *tasks):
        """Materialize shared assets and those of tasks, by default of all, that need no model."""
        keys = [key for asset in ASSETS if asset.partitions_def is None for key in asset.keys]
        if tasks:
            keys = [key for key in keys if len(key.path) == 2 or key.path[1] in tasks]
        return self.materialize_keys(keys)

    def evaluate_hallucination(self, model):
        """Materialize the tables of the evaluation of a model in hallucination VQA."""
        keys = [["journeybench", "hallucination_vqa", table] for table in EVALUATION_TABLES]
        return self.materialize_keys(keys, model)

    def materialize_keys(self, keys, model=None):
        """Materialize assets; an error is in the result."""
        specs = [dg.AssetSpec(["journeybench", *table.split("/")]) for table in BUILT_TABLES]
        selection = dg.AssetSelection.assets(*keys)
        return self.materialize([*ASSETS, *specs], selection, model, raise_on_error=False)

    def rows(self, table, row_type, model=""):
        """Rows of a table, by its path below the suite, such as "captioning/questions"."""
        return self.read(row_type, *table.split("/"), model=model)
