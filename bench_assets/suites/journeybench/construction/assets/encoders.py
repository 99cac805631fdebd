"""Opens the sentence encoder of the built route, which remembers what it embedded."""

from collections.abc import Sequence

from bench_assets.core.schema.chat import TextEncoder, Vectors
from bench_assets.core.schema.errors import ModelError
from bench_assets.suites.journeybench.assets.source import SUITE
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from resources.config.settings_resource import SettingsResource
from resources.config.stores import open_vector_cache
from resources.encoders.caching_encoder import CachingEncoder
from resources.encoders.sentence_encoder import SentenceEncoder, open_text_encoder

_BATCH = 512  # texts that are kept at once


def open_sentence_encoder(settings: SettingsResource) -> TextEncoder:
    """Load the configured encoder; its vectors are kept.

    Raises:
        ModelError: If there is no such encoder, or it does not load.
    """
    configured = settings.load()
    chosen = configured.suite(SUITE, JourneyBenchSettings)
    encoder = open_text_encoder(chosen.text_encoder, configured.home)
    return CachingEncoder(encoder.name, _Sentences(encoder), open_vector_cache(configured), _BATCH)


class _Sentences:
    """A sentence encoder as what a vector store remembers for."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder

    def texts(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_texts(texts)

    def images(self, images: Sequence[str]) -> Vectors:
        raise ModelError(f"{self._encoder.name} embeds texts, not the {len(images)} images")
