"""Measures recognition with the encoder and the nouns that the settings name (Table 2)."""

from collections.abc import Sequence
from dataclasses import replace

from bench_assets.core.schema.rows import Metric, Prediction, Question
from bench_assets.evaluation.aggregation import answered_of
from bench_assets.evaluation.suite import HomeConfiguration
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.cogbench.assets.encoder import open_encoder
from bench_assets.suites.cogbench.description.evaluators import blank_row
from bench_assets.suites.cogbench.description.recognition import (
    MEASURES,
    EntityMatch,
    affirmed,
    match_entities,
)
from bench_assets.suites.cogbench.description.thresholds import threshold_of
from bench_assets.suites.cogbench.settings import CogbenchSettings
from resources.encoders.part_of_speech import open_noun_finder


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
