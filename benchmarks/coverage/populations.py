"""Populations of questions: images with one to three questions each, some easy, some hard.

How hard an image is spreads as a beta distribution; two questions of one image are right or
wrong together with the correlation ``TOGETHER``.
"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import numpy.typing as npt

from bench_assets.core.metrics.captions import CaptionPair, score_captions
from bench_assets.core.stats.means import Floats, ScoredPoint
from benchmarks.coverage.cells import Rng

TOGETHER = 0.3
_CAPTIONS = 4000
_WORDS = 300


@cache
def images(n: int, most: int = 3) -> npt.NDArray[np.int_]:
    """The image of each of n questions: 1, 2, ... ``most`` questions an image, and so on.

    >>> images(7).tolist()
    [0, 1, 1, 2, 2, 2, 3]
    """
    found: list[int] = []
    while len(found) < n:
        number = found[-1] + 1 if found else 0
        found += [number] * (number % most + 1)
    return np.array(found[:n])


@cache
def one_large(n: int, share: float) -> npt.NDArray[np.int_]:
    """One image with a share of the questions, beside images of one question each."""
    large = round(n * share)
    return np.concatenate([np.zeros(large, int), np.arange(1, n - large + 1)])


@cache
def two_large(n: int) -> npt.NDArray[np.int_]:
    """Two images with a quarter of the questions each, beside images of one question each."""
    quarter = n // 4
    return np.concatenate([np.repeat([0, 1], quarter), np.arange(2, 2 + n - 2 * quarter)])


@cache
def skewed(n: int) -> npt.NDArray[np.int_]:
    """Images whose sizes are lognormal: most of one question, some of ten and more."""
    sizes = np.ceil(np.random.default_rng(5).lognormal(0, 1.2, n)).astype(int)
    return np.repeat(np.arange(n), sizes)[:n]


@cache
def falling(n: int) -> npt.NDArray[np.int_]:
    """Images whose sizes fall as 1/k."""
    of_first = (np.array([most // k for k in range(1, most + 1)]) for most in range(1, n + 1))
    sizes = next(sizes for sizes in of_first if sizes.sum() >= n)
    return np.repeat(np.arange(len(sizes)), sizes)[:n]


@cache
def equal(n: int, k: int) -> npt.NDArray[np.int_]:
    """K images with as many questions each."""
    return np.arange(n) * k // n


EQUAL: dict[str, Callable[[int], npt.NDArray[np.int_]]] = {
    "five images": partial(equal, k=5),
    "ten images": partial(equal, k=10),
    "twenty images": partial(equal, k=20),
}
"""Few images of equal sizes."""

UNEVEN: dict[str, Callable[[int], npt.NDArray[np.int_]]] = {
    "one image of half beside singles": partial(one_large, share=0.5),
    "one image of a third beside singles": partial(one_large, share=1 / 3),
    "one image of a sixth beside singles": partial(one_large, share=1 / 6),
    "one image of a tenth beside singles": partial(one_large, share=0.1),
    "two images of a quarter beside singles": two_large,
    "image sizes falling as 1/k": falling,
    "lognormal image sizes": skewed,
}
"""Images of uneven sizes."""

FEW = 25.0
"""Effective images; below, intervals may be too wide."""


def effective(of: npt.NDArray[np.int_]) -> float:
    """Effective number of images (Kish, 1965).

    >>> effective(equal(40, 4)), round(effective(one_large(120, 0.5)), 1)
    (4.0, 3.9)
    """
    shares = np.bincount(of) / len(of)
    return float(1 / (shares**2).sum())


@cache
def name(number: int) -> str:
    """Name a cluster."""
    return str(number)


def chances(rng: Rng, of: npt.NDArray[np.int_], mean: float, together: float = TOGETHER) -> Floats:
    """How easy the image of each question is: with this mean over images."""
    k = (1 - together) / together
    drawn: Floats = rng.beta(mean * k, (1 - mean) * k, size=int(np.max(of)) + 1)[of]
    return drawn


def points(values: Floats | npt.NDArray[np.bool_], of: npt.NDArray[np.int_]) -> list[ScoredPoint]:
    """Points of questions, clustered by their images."""
    return list(map(ScoredPoint, values.astype(float).tolist(), map(name, of.tolist())))


@cache
def captions() -> Floats:
    """What each of 4,000 captions adds: BLEU's ten counts, CIDEr, ROUGE-L, and one.

    People write the same sentence with three words in ten exchanged; a model with more or less.
    """
    rng = np.random.default_rng(0)
    often = 1 / np.arange(1, _WORDS + 1)
    bag = rng.choice(_WORDS, size=(_CAPTIONS, 60), p=often / often.sum())

    def said(words: Floats, others: Floats, share: float) -> str:
        exchanged = rng.random(len(words)) < share
        return " ".join(map(str, np.where(exchanged, others, words)))

    texts = []
    for row, length, share in zip(
        bag, rng.integers(6, 12, _CAPTIONS), rng.beta(2, 1, _CAPTIONS), strict=True
    ):
        base, *others = row[: 5 * length].reshape(5, length)
        people = tuple(said(base, other, 0.3) for other in others[:3])
        texts.append(CaptionPair(said(base, others[3], share), people))
    found = score_captions(texts, str.split)
    each = (found.cider, found.rouge_l, np.ones(_CAPTIONS))
    return np.hstack([found.bleu_counts, *(column[:, None] for column in each)])
