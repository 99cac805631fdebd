import numpy as np

from bench_assets.suites.journeybench.retrieval.shared_vectors import SharedVectors


class CountingEncoder:
    """Encodes a text by its length, an image by the negative of that; records its inputs."""

    def __init__(self, name):
        self.name, self.embedded = name, []

    def encode_texts(self, texts):
        self.embedded += texts
        return np.array([[len(text), 1] for text in texts], np.float32).reshape(-1, 2)

    def encode_images(self, images):
        return -self.encode_texts(images)


def test_the_next_condition_embeds_only_new_texts_and_images():
    first, second = CountingEncoder("a@1"), CountingEncoder("a@1")
    assert SharedVectors(first).encode_texts(["x", "yy", "x"]).tolist() == [[1, 1], [2, 1], [1, 1]]
    shared = SharedVectors(second)
    assert shared.encode_texts(["zzz", "yy"]).tolist() == [[3, 1], [2, 1]]
    assert shared.encode_images(["yy"]).tolist() == [[-2, -1]]
    assert (first.embedded, second.embedded) == (["x", "yy"], ["zzz", "yy"])


def test_vectors_of_no_texts_have_the_dimensions_of_the_encoder():
    assert SharedVectors(CountingEncoder("a@1")).encode_texts([]).shape == (0, 2)


def test_an_encoder_with_another_name_shares_no_vectors():
    SharedVectors(CountingEncoder("b@1")).encode_texts(["x"])
    changed = CountingEncoder("b@2")
    SharedVectors(changed).encode_texts(["x"])
    assert changed.embedded == ["x"]
