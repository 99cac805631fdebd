"""The published route of the suite over files of a test: what is made of them."""

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

EVALUATED = ("predictions", "judgements", "scores", "metrics")
ASSETS: list[Any] = [
    *dg.load_assets_from_modules([shared, captioning, hallucination, retrieval]),
    *evaluation_assets(CAPTIONING),
    *evaluation_assets(HALLUCINATION),
]
BUILT = {
    "captioning/built": CaptionedImage,
    "hallucination_vqa/built": TriggerQuestion,
    "caption_decisions": CaptionDecision,
    "statement_decisions": StatementDecision,
    "look_alikes": LookAlikeDecision,
}


class Bench(Home):
    """A home folder with the assets of the three tasks, without checks: they know real counts."""

    def __init__(self, home, source):
        written = (
            f'[sources]\njourneybench = "{source}"\n[models.says-cat]\nkind = "scripted"\n'
            'says = "A cat drives a car."\n'
        )
        super().__init__(home, "journeybench", written=written)
        self.source = source
        for table, row_type in BUILT.items():  # as they are for a published source
            self.tables.write(["journeybench", *table.split("/")], [], row_type)

    def build(self, *tasks):
        """Make what does not hang on a model: of all tasks, or of some and of what they share."""
        keys = [key for asset in ASSETS if asset.partitions_def is None for key in asset.keys]
        return self.run([key for key in keys if not tasks or key.path[1] in (*tasks, key.path[-1])])

    def run(self, keys, partition=None):
        specs = [dg.AssetSpec(["journeybench", *table.split("/")]) for table in BUILT]
        selection = dg.AssetSelection.assets(*keys)
        return self.materialize([*ASSETS, *specs], selection, partition, raise_on_error=False)

    def rows(self, table, row_type, partition=""):
        return self.read(row_type, *table.split("/"), model=partition)
