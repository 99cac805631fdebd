"""Descriptions measured as captions, against the annotated ones (appendix E, Table 7)."""

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import dagster as dg

from bench_assets.asset_factory.partitions import MODELS
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.metrics.caption_corpus import CaptionPair
from bench_assets.core.metrics.captions import corpus_bleu, score_captions
from bench_assets.core.metrics.ptb_tokenizer import tokenize
from bench_assets.core.schema.rows import Metric, Prediction, Question
from bench_assets.evaluation.aggregation import answered_of
from bench_assets.suites.cogbench.description.evaluators import blank_row
from bench_assets.suites.cogbench.description.task import TASK
from resources.encoders.meteor import METEOR_VERSION, meteor, why_no_meteor
from resources.tables.parquet import table_output

_HERE = AssetFolder(TASK.name, str(TASK.version))
_STAGE = _HERE.stage("metrics", ablation=True, partitions=MODELS)


@dg.asset(ins=_HERE.ins("questions", "predictions"), **_STAGE)
def caption_metrics(
    context: dg.AssetExecutionContext, questions: list[Question], predictions: list[Prediction]
) -> dg.Output[list[Metric]]:
    """Take BLEU and CIDEr.

    One row: BLEU-1 to BLEU-4 or CIDEr over all descriptions, as COCO defines them (Table 7).
    """
    captions = _captions(questions, predictions)
    scores = score_captions(captions)
    values = {f"bleu_{n}": float(bleu) for n, bleu in enumerate(corpus_bleu(scores), 1)}
    values["cider"] = float(scores.cider.mean()) if captions else nan
    row = blank_row(context.partition_key, questions, predictions, captions="ptb")
    return table_output([_over(row, name, value, captions) for name, value in values.items()])


@dg.asset(name="meteor", ins=_HERE.ins("questions", "predictions"), **_STAGE)
def meteor_metric(
    context: dg.AssetExecutionContext, questions: list[Question], predictions: list[Prediction]
) -> dg.Output[list[Metric]]:
    """Take METEOR, where Java is installed.

    One row: METEOR over all descriptions (Table 7); without a value where Java or pycocoevalcap is
    not installed: the signature says so.
    """
    captions = _captions(questions, predictions)
    missing = why_no_meteor()
    version = f"absent ({missing})" if missing else METEOR_VERSION
    row = blank_row(context.partition_key, questions, predictions, meteor=version)
    if missing or not captions:
        return table_output([replace(row, metric="meteor", n_unscored=len(captions))])
    split = [(tokenize(said), [tokenize(text) for text in written]) for said, written in captions]
    return table_output([_over(row, "meteor", meteor(split).corpus, captions)])


def _captions(
    questions: Sequence[Question], predictions: Sequence[Prediction]
) -> list[CaptionPair]:
    pairs = answered_of(questions, predictions)
    return [CaptionPair(pair.prediction.text, pair.question.answer) for pair in pairs]


def _over(row: Metric, name: str, value: float, captions: Sequence[CaptionPair]) -> Metric:
    """A metric of a whole corpus: one value, no interval."""
    return replace(row, metric=name, value=value, low=nan, high=nan, n_scored=len(captions))
