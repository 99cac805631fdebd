"""Vectors are computed once for the conditions of an evaluation."""

import numpy as np

from bench_assets.suites.journeybench.retrieval.shared_vectors import SharedVectors


class CountingEncoder:
    """Embeds a text by its length, an image by the length and a sign; records what it embeds."""

    def __init__(self, name):
        self.name, self.embedded = name, []

    def encode_texts(self, texts):
        self.embedded += texts
        return np.array([[len(text), 1] for text in texts], np.float32).reshape(-1, 2)

    def encode_images(self, images):
        return -self.encode_texts(images)


def test_the_next_condition_embeds_only_what_is_new():
    first, second = CountingEncoder("a@1"), CountingEncoder("a@1")
    assert SharedVectors(first).encode_texts(["x", "yy", "x"]).tolist() == [[1, 1], [2, 1], [1, 1]]
    shared = SharedVectors(second)
    assert shared.encode_texts(["zzz", "yy"]).tolist() == [[3, 1], [2, 1]]
    assert shared.encode_images(["yy"]).tolist() == [[-2, -1]]
    assert (first.embedded, second.embedded) == (["x", "yy"], ["zzz", "yy"])
    assert shared.encode_texts([]).shape == (0, 2)


def test_other_weights_share_nothing():
    SharedVectors(CountingEncoder("b@1")).encode_texts(["x"])
    changed = CountingEncoder("b@2")
    SharedVectors(changed).encode_texts(["x"])
    assert changed.embedded == ["x"]
