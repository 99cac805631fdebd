"""Random questions with a known true value: how images are shared, and how hard they are.

The difficulty of an image has a beta distribution. Whether two questions of one image are right
has the correlation ``CORRELATION`` by default.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bench_assets.core.metrics.captions import CaptionPair, score_captions
from bench_assets.core.stats.means import Floats, ScoredPoint
from benchmarks.coverage.promise import Rng

CORRELATION = 0.3
_N_CAPTIONS = 4000
_N_WORDS = 300

Bools: TypeAlias = npt.NDArray[np.bool_]
Images: TypeAlias = npt.NDArray[np.int_]
"""The number of the image of each question."""
AssignImages: TypeAlias = Callable[[int], Images]
"""Assigns images to n questions."""


@cache
def cyclic(n: int, largest: int = 3) -> Images:
    """Images of 1, 2, ..., ``largest`` questions, again and again.

    >>> cyclic(7).tolist()
    [0, 1, 1, 2, 2, 2, 3]
    """
    images: list[int] = []
    while len(images) < n:
        number = images[-1] + 1 if images else 0
        images += [number] * (number % largest + 1)
    return np.array(images[:n])


@cache
def one_large(n: int, share: float) -> Images:
    """One image with a share of the questions, the other images with one question each."""
    n_large = round(n * share)
    return np.concatenate([np.zeros(n_large, int), np.arange(1, n - n_large + 1)])


@cache
def two_large(n: int) -> Images:
    """Two images with a quarter of the questions each, the other images with one each."""
    quarter = n // 4
    return np.concatenate([np.repeat([0, 1], quarter), np.arange(2, 2 + n - 2 * quarter)])


@cache
def lognormal(n: int) -> Images:
    """Images with lognormal numbers of questions: one is frequent, ten and more are rare."""
    sizes = np.ceil(np.random.default_rng(5).lognormal(0, 1.2, n)).astype(int)
    return np.repeat(np.arange(n), sizes)[:n]


@cache
def harmonic(n: int) -> Images:
    """Images whose numbers of questions fall as 1/k."""
    sizes_by_largest = (
        np.array([largest // k for k in range(1, largest + 1)]) for largest in range(1, n + 1)
    )
    sizes = next(sizes for sizes in sizes_by_largest if sizes.sum() >= n)
    return np.repeat(np.arange(len(sizes)), sizes)[:n]


@cache
def equal(n: int, n_images: int) -> Images:
    """Images with equal numbers of questions."""
    return np.arange(n) * n_images // n


EQUAL: dict[str, AssignImages] = {
    "five images": partial(equal, n_images=5),
    "ten images": partial(equal, n_images=10),
    "twenty images": partial(equal, n_images=20),
}

UNEVEN: dict[str, AssignImages] = {
    "one image of half beside singles": partial(one_large, share=0.5),
    "one image of a third beside singles": partial(one_large, share=1 / 3),
    "one image of a sixth beside singles": partial(one_large, share=1 / 6),
    "one image of a tenth beside singles": partial(one_large, share=0.1),
    "two images of a quarter beside singles": two_large,
    "image sizes falling as 1/k": harmonic,
    "lognormal image sizes": lognormal,
}


def effective_number(images: Images) -> float:
    """Effective number of images (Kish, 1965).

    >>> effective_number(equal(40, 4)), round(effective_number(one_large(120, 0.5)), 1)
    (4.0, 3.9)
    """
    sizes = np.bincount(images)
    return float(len(images) ** 2 / (sizes @ sizes))


@cache
def image_name(number: int) -> str:
    """The name of an image; cached, as trials use the same names."""
    return str(number)


def draw_chances(rng: Rng, images: Images, mean: float, correlation: float = CORRELATION) -> Floats:
    """Draw each image's chance of a right response; return that of each question's image."""
    k = (1 - correlation) / correlation
    chances: Floats = rng.beta(mean * k, (1 - mean) * k, size=int(np.max(images)) + 1)[images]
    return chances


def to_points(values: Floats | Bools, images: Images) -> list[ScoredPoint]:
    """Points of questions, clustered by image."""
    names = map(image_name, images.tolist())
    return list(map(ScoredPoint, values.astype(float).tolist(), names))


@cache
def score_random_captions() -> Floats:
    """Draw and score 4,000 captions; columns: ten BLEU counts, CIDEr, ROUGE-L, and 1.

    The three references differ from a sentence in 30 % of its words on average; a caption in a
    random share of them.
    """
    rng = np.random.default_rng(0)
    frequencies = 1 / np.arange(1, _N_WORDS + 1)
    words = rng.choice(_N_WORDS, size=(_N_CAPTIONS, 60), p=frequencies / frequencies.sum())

    def exchange_words(sentence: Floats, new_words: Floats, share: float) -> str:
        is_exchanged = rng.random(len(sentence)) < share
        return " ".join(map(str, np.where(is_exchanged, new_words, sentence)))

    pairs = []
    lengths, shares = rng.integers(6, 12, _N_CAPTIONS), rng.beta(2, 1, _N_CAPTIONS)
    for row, length, share in zip(words, lengths, shares, strict=True):
        sentence, *new_words = row[: 5 * length].reshape(5, length)
        references = tuple(exchange_words(sentence, new, 0.3) for new in new_words[:3])
        pairs.append(CaptionPair(exchange_words(sentence, new_words[3], share), references))
    scores = score_captions(pairs, str.split)
    columns = (scores.cider, scores.rouge_l, np.ones(_N_CAPTIONS))
    return np.hstack([scores.bleu_counts, *(column[:, None] for column in columns)])
