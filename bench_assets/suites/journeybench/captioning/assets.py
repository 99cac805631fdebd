"""Captioning: question table, and METEOR."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import nan

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder
from bench_assets.core.extras import missing_extra
from bench_assets.core.metrics import caption_measures
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.evaluation.aggregation import blank_metric, failed_ids, response_parts
from bench_assets.evaluation.task import ScoredQuestion
from bench_assets.suites.journeybench.assets.question_tables import image_questions, question_assets
from bench_assets.suites.journeybench.captioning.dataset import (
    RELEASES,
    CaptionedImage,
    read_captioned_images,
    to_question,
)
from bench_assets.suites.journeybench.captioning.task import TASK
from bench_resources.encoders.meteor import METEOR_VERSION, meteor, missing_meteor

_TASK_FOLDER = AssetFolder(TASK.name, str(TASK.version))

captioning_questions = question_assets(
    task=TASK,
    row=CaptionedImage,
    read=read_captioned_images,
    to_questions=partial(image_questions, to_question),
    releases=RELEASES,
)


@_TASK_FOLDER.step("metrics", name="meteor", ablation=True, partitions=MODELS)
def meteor_metric(
    context: dg.AssetExecutionContext,
    questions: list[Question],
    predictions: list[Prediction],
    scores: list[Score],
) -> list[Metric]:
    """Compute METEOR of the scored captions; NaN unless Java and its program are installed."""
    scored = _scored_captions(questions, scores)
    missing = missing_meteor()
    if missing:
        hint = missing_extra("METEOR", "pycocoevalcap") or f"METEOR is not computed: {missing}"
        context.log.warning("%s", hint)
    version = f"absent ({missing})" if missing else METEOR_VERSION
    parts = {
        **response_parts(predictions),
        "scorer": scored[0].score.scorer,
        "meteor": version,
        "n": str(len(questions)),
    }
    n_failed = len(failed_ids(questions, predictions))
    row = replace(
        blank_metric(TASK, questions, context.partition_key, parts, n_failed=n_failed),
        metric="meteor",
        value=nan if missing else _corpus_meteor(scored),
        n_scored=0 if missing else len(scored),
        n_unscored=len(scored) if missing else 0,
    )
    return [row]


def _corpus_meteor(scored: Sequence[ScoredQuestion]) -> float:
    """METEOR of the whole corpus, with the tokens of its scorer."""
    split = caption_measures.tokenizer_of(scored[0].score.scorer)
    pairs = map(caption_measures.caption_pair, scored)
    captions = [(split(pair.candidate), [*map(split, pair.references)]) for pair in pairs]
    return meteor(captions).corpus


def _scored_captions(
    questions: Sequence[Question], scores: Sequence[Score]
) -> list[ScoredQuestion]:
    pairs = ScoredQuestion.of(questions, scores)
    scored = [pair for pair in pairs if pair.score.points is not None]
    if not scored:
        raise TableError(f"{TASK.name}: no caption has been scored. Run the evaluation again")
    return scored
