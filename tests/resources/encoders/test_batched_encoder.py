from collections.abc import Sequence

import numpy as np
import pytest

from bench_assets.core.schema.chat import Vectors
from bench_resources.encoders.batched_encoder import BatchedEncoder


class LengthBackend:
    """Embeds a text by its length, and keeps the batches."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def texts(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        return np.array([[len(text), 1] for text in texts], np.float32)

    images = texts


def test_each_distinct_text_is_embedded_once_to_a_vector_of_norm_one() -> None:
    backend = LengthBackend()
    vectors = BatchedEncoder("m@1", backend, batch_size=2).encode_texts(["aaa", "b", "aaa", "cc"])
    assert backend.batches == [["b", "cc"], ["aaa"]]  # the shortest first
    # (3, 1), (1, 1), (3, 1) and (2, 1), divided by their norms
    expected = [
        [3 / 10**0.5, 1 / 10**0.5],
        [1 / 2**0.5, 1 / 2**0.5],
        [3 / 10**0.5, 1 / 10**0.5],
        [2 / 5**0.5, 1 / 5**0.5],
    ]
    assert vectors == pytest.approx(np.array(expected))
