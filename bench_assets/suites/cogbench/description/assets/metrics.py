"""Descriptions measured as captions, against the annotated ones (appendix E, Table 7).

Measures recognition with the encoder and the nouns that the settings name (Table 2).
"""

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder
from bench_assets.core.metrics.captions import CaptionPair, corpus_bleu, score_captions
from bench_assets.core.metrics.ptb_tokenizer import tokenize
from bench_assets.core.schema.rows import Metric, Prediction, Question
from bench_assets.evaluation.aggregation import answered_of
from bench_assets.evaluation.suite import HomeConfiguration
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.cogbench.assets.source import open_encoder
from bench_assets.suites.cogbench.description.evaluators import blank_row
from bench_assets.suites.cogbench.description.recognition import (
    MEASURES,
    EntityMatch,
    affirmed,
    match_entities,
)
from bench_assets.suites.cogbench.description.task import TASK
from bench_assets.suites.cogbench.description.thresholds import threshold_of
from bench_assets.suites.cogbench.settings import CogbenchSettings
from resources.encoders.meteor import METEOR_VERSION, meteor, why_no_meteor
from resources.encoders.part_of_speech import open_noun_finder
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


def recognised(
    settings: HomeConfiguration,
    model: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
) -> list[Metric]:
    """Measure recognition of one model's descriptions."""
    matches = find_matches(settings, answered_of(questions, predictions))
    return recognition_metrics(model, questions, predictions, matches)


def find_matches(
    settings: HomeConfiguration, answered: Sequence[AnsweredQuestion]
) -> list[EntityMatch]:
    """Find the annotated entities in descriptions."""
    chosen = settings.suite("cogbench", CogbenchSettings)
    encoder = open_encoder(settings)
    finder = open_noun_finder()
    said = [pair.prediction.raw_text or pair.prediction.text for pair in answered]
    meant = [affirmed(pair.prediction.text) for pair in answered]
    found = dict(
        zip(texts := list(dict.fromkeys([*said, *meant])), finder.nouns(texts), strict=True)
    )
    if chosen.recognition_threshold is None:
        threshold, named = threshold_of(encoder)
    else:
        threshold = chosen.recognition_threshold
        named = f"{threshold:g} by bench.toml"
    return match_entities(
        answered,
        [found[text] for text in said],
        encoder,
        [found[text] for text in meant],
        threshold,
        f"nouns:{finder.name}|encoder:{encoder.name}|above:{named}",
    )


def recognition_metrics(
    model: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    matches: Sequence[EntityMatch],
) -> list[Metric]:
    """Take every measure of recognition."""
    recogniser = "+".join(sorted({match.recogniser for match in matches})) or "none"
    row = blank_row(model, questions, predictions, **{recogniser: ""})
    return [
        replace(row, metric=name, **measure(matches)._asdict())
        for name, measure in MEASURES.items()
    ]
