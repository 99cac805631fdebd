import numpy as np


class MeaningEncoder:
    """Gives texts of one meaning a cosine of 0.9, and all other pairs one of 0."""

    name = "meanings"

    def __init__(self, *meanings):
        self._meanings = meanings

    def encode_texts(self, texts):
        return np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(
            len(texts), -1
        )

    def _vector(self, text):
        # One dimension is shared by all texts of a meaning, one is the text's own.
        vector = np.zeros(4096)
        vector[self._shared_dimension(text)] = np.sqrt(0.9)
        vector[2048 + text_hash(text)] = np.sqrt(0.1)
        return vector

    def _shared_dimension(self, text):
        for index, texts in enumerate(self._meanings):
            if text in texts:
                return index
        return 100 + text_hash(text)  # a meaning that no other text has


def text_hash(text):
    """A number below 1931, so that the shared and the own dimensions stay apart."""
    return int.from_bytes(text.encode()) % 1931
