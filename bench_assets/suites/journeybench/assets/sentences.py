"""The sentence encoder of JourneyBench, with cached vectors."""

from collections.abc import Sequence

from bench_assets.core.schema.chat import TextEncoder, Vectors
from bench_assets.core.schema.errors import ModelError
from bench_assets.suites.journeybench.assets.source import SUITE
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.config.stores import open_vector_cache
from bench_resources.encoders.caching_encoder import CachingEncoder
from bench_resources.encoders.sentence_encoder import SentenceEncoder, open_text_encoder

_BATCH_SIZE = 512  # texts embedded and cached at once


def open_sentence_encoder(settings: Settings) -> TextEncoder:
    """Load the configured encoder, with cached vectors.

    Raises:
        ModelError: If there is no such encoder, or it does not load.
    """
    chosen = settings.suite(SUITE, JourneyBenchSettings)
    encoder = open_text_encoder(chosen.text_encoder, settings.home)
    return CachingEncoder(
        encoder.name, _CachedSentenceEncoder(encoder), open_vector_cache(settings), _BATCH_SIZE
    )


class _CachedSentenceEncoder:
    """A sentence encoder with cached vectors."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder

    def texts(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_texts(texts)

    def images(self, images: Sequence[str]) -> Vectors:
        raise ModelError(f"{self._encoder.name} embeds texts, not the {len(images)} images")
