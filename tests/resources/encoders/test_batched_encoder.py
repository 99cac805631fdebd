"""Each distinct content is embedded once, in batches of similar lengths."""

from collections.abc import Sequence

import numpy as np
import pytest

from bench_assets.core.schema.chat import Vectors
from bench_resources.encoders.batched_encoder import BatchedEncoder


class Lengths:
    """Embeds a text by its length, and keeps the batches."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def texts(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        return np.array([[len(text), 1] for text in texts], np.float32)

    images = texts


def test_each_distinct_text_is_embedded_once_and_has_norm_one() -> None:
    lengths = Lengths()
    vectors = BatchedEncoder("m@1", lengths, batch_size=2).encode_texts(["aaa", "b", "aaa", "cc"])
    assert lengths.batches == [["b", "cc"], ["aaa"]]
    assert vectors[0] == pytest.approx([3 / 10**0.5, 1 / 10**0.5])
    assert (vectors[0] == vectors[2]).all()
    assert vectors[1] == pytest.approx([1 / 2**0.5, 1 / 2**0.5])
