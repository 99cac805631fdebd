"""Captions with their references as rows of numbers, one for each token, and their n-grams.

N-grams are counted by sorting instead of in dictionaries.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Tokenize: TypeAlias = Callable[[str], Sequence[str]]

MAX_N = 4


class CaptionPair(NamedTuple):
    """A caption, and what people wrote about the same image: a tuple, never one text."""

    candidate: str
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """All texts one after another: first the candidates, then the references of each."""

    tokens: Ints  # of all texts
    starts: Ints  # (texts + 1,): where each begins in `tokens`
    owner: Ints  # (texts,): the caption that a text belongs to
    n: int  # captions

    @classmethod
    def of(cls, captions: Sequence[CaptionPair], tokens: Tokenize) -> "Corpus":
        """Number the tokens of all captions and references."""
        texts = [c.candidate for c in captions]
        texts += chain.from_iterable(c.references for c in captions)
        split = [tokens(text) for text in texts]
        numbers: dict[str, int] = {}
        flat = [numbers.setdefault(token, len(numbers)) for text in split for token in text]
        sizes = np.fromiter(map(len, split), np.int64, len(split))
        n_references = [len(c.references) for c in captions]
        order = np.arange(len(captions))
        return cls(
            np.array(flat, np.int64),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([order, np.repeat(order, n_references)]),
            len(captions),
        )

    @property
    def lengths(self) -> Ints:
        """Tokens of each text."""
        lengths: Ints = np.diff(self.starts)
        return lengths

    def lengths_to_compare(self) -> Floats:
        """Tokens of each candidate, and of the reference closest to it: the shorter of two."""
        own, theirs = self.lengths[: self.n], self.lengths[self.n :]
        owner = self.owner[self.n :]
        distance = np.abs(theirs - own[owner])
        best = np.lexsort((theirs, distance, owner))
        first = np.searchsorted(owner, np.arange(self.n))
        return np.stack([own, theirs[best][first]], axis=1).astype(float)

    def possible(self) -> Floats:
        """How many n-grams each candidate has, for n from 1 to 4."""
        left: Ints = self.lengths[: self.n, None] - np.arange(MAX_N)
        return np.maximum(0, left).astype(float)


class Ngrams(NamedTuple):
    """How often each n-gram of one length is in each text, sorted by text."""

    text: Ints
    ngram: Ints
    times: Ints


def ngrams(corpus: Corpus) -> list[Ngrams]:
    """Count the n-grams of every text, for n from 1 to 4."""
    texts = np.repeat(np.arange(len(corpus.owner)), corpus.lengths)
    left = np.repeat(corpus.starts[1:], corpus.lengths) - np.arange(len(texts))  # to the end
    tokens, width = corpus.tokens, len(corpus.tokens)  # there are no more n-grams than tokens
    gram = np.zeros_like(tokens)
    counted = []
    for n in range(1, MAX_N + 1):
        here = np.flatnonzero(left >= n)
        # An n-gram is an (n-1)-gram and one more token: numbered afresh.
        _, numbered = np.unique(gram[here] * width + tokens[here + n - 1], return_inverse=True)
        gram = np.zeros_like(tokens)
        gram[here] = numbered
        keys, count = np.unique(texts[here] * width + gram[here], return_counts=True)
        counted.append(Ngrams(keys // width, keys % width, count))
    return counted


def looked_up(keys: Ints, known: Ints, values: npt.NDArray[np.generic]) -> Floats:
    """Value of each key among sorted known ones; 0 for a key that is not known."""
    if not len(known):
        return np.zeros(len(keys))
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, values[place], 0).astype(float)
