"""Opens the sentence encoder of the built route, which remembers what it embedded."""

from collections.abc import Sequence

from bench_assets.core.embedding import TextEncoder, Vectors
from bench_assets.core.errors import ModelError
from bench_assets.suites.journeybench.assets.source import SUITE
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from resources.encoders.embedders import SentenceEncoder, open_text_encoder
from resources.home.vectors import RememberingEncoder
from resources.settings.settings_file import SettingsFile
from resources.settings.stores import vectors_of

_BATCH = 512  # texts that are kept at once


def open_sentence_encoder(settings: SettingsFile) -> TextEncoder:
    """Load the configured encoder; its vectors are kept.

    Raises:
        ModelError: If there is no such encoder, or it does not load.
    """
    configured = settings.load()
    chosen = configured.suite(SUITE, JourneyBenchSettings)
    encoder = open_text_encoder(chosen.text_encoder, configured.home)
    return RememberingEncoder(encoder.name, _Sentences(encoder), vectors_of(configured), _BATCH)


class _Sentences:
    """A sentence encoder as what a vector store remembers for."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder

    def texts(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.encode_texts(texts)

    def images(self, images: Sequence[str]) -> Vectors:
        raise ModelError(f"{self._encoder.name} embeds texts, not the {len(images)} pictures")
