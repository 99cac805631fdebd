"""Retrieval right of the waist: encoders in place of models that talk, one partition each."""

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import EvaluationStep, evaluation_assets
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.suites.journeybench.retrieval.assets.encoders import encoder_of
from bench_assets.suites.journeybench.retrieval.dataset import Candidate
from bench_assets.suites.journeybench.retrieval.ranking import AS_RELEASED, rank
from bench_assets.suites.journeybench.retrieval.task import TASK
from resources.config.settings_resource import SettingsResource
from resources.images.store import ImageStore
from resources.tables.parquet import table_output


def rankings(of: EvaluationStep) -> dg.AssetsDefinition:
    """Build the asset that has encoders rank the candidates of every query."""
    pools = of if of.condition == AS_RELEASED else EvaluationStep(TASK)

    @dg.asset(
        ins=of.ins("questions") | pools.ins("candidates"),
        description=(
            "One row: the ten candidates that an encoder finds most like one query, best first. "
            f"Condition: {TASK.conditions[of.condition].about} Vectors are remembered by content; "
            "the signature of the metrics names the pools and the rule for ties (section 4.1)."
        ),
        **of.stage("predictions", "gpu"),
    )
    def predictions(
        context: dg.AssetExecutionContext,
        settings: SettingsResource,
        image_store: ImageStore,
        questions: list[Question],
        candidates: list[Candidate],
    ) -> dg.Output[list[Prediction]]:
        name = context.partition_key
        with encoder_of(name, settings.load(), image_store) as encoder:
            return table_output(rank(questions, candidates, encoder, name, of.condition))

    return predictions


RETRIEVAL_ASSETS = [
    asset
    for condition in TASK.conditions
    for asset in evaluation_assets(TASK, condition, predictions=rankings)
]
