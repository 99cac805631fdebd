"""An encoder that knows which texts mean the same, for tests."""

import numpy as np


class MeaningEncoder:
    """Texts of one meaning have a cosine of 0.9, others of 0."""

    name = "meanings"

    def __init__(self, *meanings):
        self._meanings = meanings

    def encode_texts(self, texts):
        return np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(
            len(texts), -1
        )

    def _vector(self, text):
        # A part that all texts of a meaning share, and one of the text's own.
        vector = np.zeros(4096)
        meaning = next((n for n, m in enumerate(self._meanings) if text in m), 100 + hash_of(text))
        vector[meaning] = np.sqrt(0.9)
        vector[2048 + hash_of(text)] = np.sqrt(0.1)
        return vector


def hash_of(text):
    return int.from_bytes(text.encode()) % 1931
