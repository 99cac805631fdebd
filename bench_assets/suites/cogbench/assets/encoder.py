"""The encoder that annotations, entities and nouns are compared by."""

from bench_assets.suite import Configured
from bench_assets.suites.cogbench.settings import CogbenchSettings
from resources.encoders.embedders import SentenceEncoder, open_text_encoder


def open_encoder(settings: Configured) -> SentenceEncoder:
    """Load the encoder that bench.toml names.

    Raises:
        ModelError: If there is no such encoder, or it does not load.
    """
    chosen = settings.suite("cogbench", CogbenchSettings)
    return open_text_encoder(chosen.text_encoder, settings.home)
