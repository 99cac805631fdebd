"""The encoder that annotations, entities and nouns are compared by."""

from bench_assets.evaluation.suite import HomeConfiguration
from bench_assets.suites.cogbench.settings import CogbenchSettings
from resources.encoders.sentence_encoder import SentenceEncoder, open_text_encoder


def open_encoder(settings: HomeConfiguration) -> SentenceEncoder:
    """Load the encoder that bench.toml names.

    Raises:
        ModelError: If there is no such encoder, or it does not load.
    """
    chosen = settings.suite("cogbench", CogbenchSettings)
    return open_text_encoder(chosen.text_encoder, settings.home)
