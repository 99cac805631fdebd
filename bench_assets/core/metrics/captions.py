"""BLEU, ROUGE-L and CIDEr of a whole corpus of captions at once.

The values equal those of pycocoevalcap to within rounding, for corpora and single captions: BLEU-1
to BLEU-4, CIDEr-D and ROUGE-L as in COCO's caption evaluation. Texts are arrays of token numbers,
and n-grams are counted by sorting instead of in dictionaries.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bench_assets.core.metrics.ptb_tokenizer import tokenize

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Tokenize: TypeAlias = Callable[[str], Sequence[str]]

MAX_N = 4  # words of the longest n-grams


class CaptionPair(NamedTuple):
    """A caption with its references: a tuple, never a single text."""

    candidate: str
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Concatenated token numbers: first the candidates, then the references of each."""

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

    def reference_lengths(self) -> Floats:
        """Length of each candidate and of its closest reference, ``(n, 2)``; ties: the shorter."""
        own_lengths, ref_lengths = self.lengths[: self.n], self.lengths[self.n :]
        owner = self.owner[self.n :]
        distance = np.abs(ref_lengths - own_lengths[owner])
        best = np.lexsort((ref_lengths, distance, owner))
        first = np.searchsorted(owner, np.arange(self.n))
        return np.stack([own_lengths, ref_lengths[best][first]], axis=1).astype(float)

    def ngram_totals(self) -> Floats:
        """Number of n-grams of each candidate, for n from 1 to 4; ``(n, 4)``."""
        left: Ints = self.lengths[: self.n, None] - np.arange(MAX_N)
        return np.maximum(0, left).astype(float)


class Ngrams(NamedTuple):
    """Count of each n-gram of one length in each text, sorted by text."""

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
        positions = np.flatnonzero(left >= n)
        # An n-gram is an (n-1)-gram and one more token: numbered afresh.
        _, numbered = np.unique(
            gram[positions] * width + tokens[positions + n - 1], return_inverse=True
        )
        gram = np.zeros_like(tokens)
        gram[positions] = numbered
        keys, count = np.unique(texts[positions] * width + gram[positions], return_counts=True)
        counted.append(Ngrams(keys // width, keys % width, count))
    return counted


def lookup(keys: Ints, known: Ints, values: npt.NDArray[np.generic]) -> Floats:
    """Look up keys among sorted known ones; 0 for an unknown key."""
    if not len(known):
        return np.zeros(len(keys))
    positions = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[positions] == keys, values[positions], 0).astype(float)


def bleu_of(counts: Floats) -> Floats:
    """BLEU-1 to BLEU-4 of rows of ``bleu_counts``, or of their sums; ``(rows, 4)``, in [0, 1]."""
    # The two small numbers are pycocoevalcap's, against division by zero.
    length, closest, matched, possible = counts[:, 0], counts[:, 1], counts[:, 2:6], counts[:, 6:]
    precision = np.cumprod((matched + 1e-15) / (possible + 1e-9), axis=1)
    ratio = (length + 1e-15) / (closest + 1e-9)
    brevity = np.exp(1 - 1 / np.minimum(ratio, 1))
    bleu: Floats = precision ** (1 / np.arange(1, MAX_N + 1)) * brevity[:, None]
    return bleu


_SIGMA = 6.0  # of the penalty on a difference in length, in bigrams


def matches_and_cider(corpus: Corpus) -> tuple[Floats, Floats]:
    """Matched n-grams for BLEU ``(n, 4)``, and CIDEr ``(n,)``."""
    matched, similarity = np.zeros((corpus.n, MAX_N)), np.zeros(len(corpus.owner) - corpus.n)
    for n, grams in enumerate(ngrams(corpus)):
        matched[:, n], similar = _compare(corpus, grams)
        similarity += similar
    own_lengths, ref_lengths = corpus.lengths[: corpus.n], corpus.lengths[corpus.n :]
    owner = corpus.owner[corpus.n :]
    difference = (own_lengths[owner] - ref_lengths).astype(float)  # in tokens as in bigrams
    similarity *= np.exp(-(difference**2) / (2 * _SIGMA**2)) / MAX_N
    per_caption = np.bincount(owner, similarity, corpus.n) / np.bincount(owner, minlength=corpus.n)
    return matched, 10 * per_caption


def _compare(corpus: Corpus, grams: Ngrams) -> tuple[Floats, Floats]:
    """For one n: matches of each candidate, and cosine of each reference with its candidate."""
    cut = np.searchsorted(grams.text, corpus.n)
    own_grams, ref_grams = (
        Ngrams(*(a[part] for a in grams)) for part in (slice(cut), slice(cut, None))
    )
    width = len(corpus.tokens)
    owner = corpus.owner[ref_grams.text]
    # Document frequency of each n-gram, and its largest count in one reference of a caption.
    pairs, group = np.unique(owner * width + ref_grams.ngram, return_inverse=True)
    frequency = np.bincount(pairs % width, minlength=width)
    most = np.zeros(len(pairs), np.int64)
    np.maximum.at(most, group, ref_grams.times)
    keys = own_grams.text * width + own_grams.ngram  # sorted, as both its parts are
    matches = np.minimum(own_grams.times, lookup(keys, pairs, most))
    matched = np.bincount(own_grams.text, matches, corpus.n).astype(float)
    idf = np.log(max(1, corpus.n)) - np.log(np.maximum(1, frequency))
    weight, ref_weight = (
        own_grams.times * idf[own_grams.ngram],
        ref_grams.times * idf[ref_grams.ngram],
    )
    norm = np.sqrt(np.bincount(grams.text, np.r_[weight, ref_weight] ** 2, len(corpus.owner)))
    shared = lookup(owner * width + ref_grams.ngram, keys, weight)
    parts = np.minimum(shared, ref_weight) * ref_weight
    dot = np.bincount(ref_grams.text, parts, len(corpus.owner))[corpus.n :].astype(float)
    length = norm[: corpus.n][corpus.owner[corpus.n :]] * norm[corpus.n :]
    similar = np.divide(dot, length, out=dot, where=length != 0)
    return matched, similar


def longest_common(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence of two texts.

    Bit-parallel (Hyyrö, 2004): a table of all pairs of words would take gigabytes for a runaway
    response.

    >>> longest_common("abcd", "acbd")
    3
    """
    one, other = sorted((one, other), key=len)  # the shorter is the number's length in bits
    places: dict[Hashable, int] = {}
    for position, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << position
    everywhere = left = (1 << len(one)) - 1
    for word in other:
        matches = left & places.get(word, 0)
        left = (left + matches) | (left - matches)
    return len(one) - (left & everywhere).bit_count()


_BETA = 1.2  # weight of recall against precision in ROUGE-L


def rouge_l(corpus: Corpus) -> Floats:
    """ROUGE-L, ``(n,)``, from the best precision and the best recall over the references."""
    texts = [text.tolist() for text in np.split(corpus.tokens, corpus.starts[1:-1])]
    references: list[list[list[int]]] = [[] for _ in range(corpus.n)]
    for owner, text in zip(corpus.owner[corpus.n :].tolist(), texts[corpus.n :], strict=False):
        references[owner].append(text)
    return np.array([_rouge_l(*of_one) for of_one in zip(texts, references, strict=False)], float)


def caption_rouge_l(caption: CaptionPair, tokens: Tokenize = tokenize) -> float:
    """ROUGE-L of one caption, as in ``score_captions``; it does not depend on other captions.

    >>> caption_rouge_l(CaptionPair("a red cat", ("a red cat", "the cat is red")))
    1.0
    """
    return _rouge_l(tokens(caption.candidate), map(tokens, caption.references))


def _rouge_l(own: Sequence[Hashable], references: Iterable[Sequence[Hashable]]) -> float:
    precision = recall = 0.0
    for reference in references:
        common = longest_common(own, reference)
        common += not own and not reference  # pycocoevalcap splits these into one empty token each
        precision = max(precision, common / max(1, len(own)))
        recall = max(recall, common / max(1, len(reference)))
    denominator = recall + _BETA**2 * precision
    return (1 + _BETA**2) * precision * recall / denominator if denominator else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionScores:
    """Scores of each caption, in order, and the counts for BLEU of any subset."""

    bleu: Floats  # (n, 4): BLEU-1 to BLEU-4 of each caption alone
    rouge_l: Floats  # (n,), [0, 1]
    cider: Floats  # (n,), [0, 10]
    bleu_counts: Floats  # (n, 10): tokens, closest reference's tokens, 4 x matched, 4 x possible


def score_captions(captions: Sequence[CaptionPair], tokens: Tokenize = tokenize) -> CaptionScores:
    """Score every caption of a corpus; document frequencies are those of its references.

    Args:
        captions: The corpus, each caption with at least one reference.
        tokens: Tokenizer; the Penn Treebank's unless a paper uses another one.

    Raises:
        ValueError: If a caption has no reference, or its references are one text.

    >>> cat = CaptionPair("a red cat", ("a red cat", "the cat is red"))
    >>> score_captions([cat, CaptionPair("dogs", ("cats",))]).rouge_l.tolist()
    [1.0, 0.0]
    """
    for position, caption in enumerate(captions):
        if isinstance(caption.references, str) or not caption.references:
            raise ValueError(
                f"caption {position}: expected a tuple of texts, got {caption.references!r:.60}"
            )
    corpus = Corpus.of(captions, tokens)
    matched, cider = matches_and_cider(corpus)
    counts = np.hstack([corpus.reference_lengths(), matched, corpus.ngram_totals()])
    return CaptionScores(
        bleu=bleu_of(counts), rouge_l=rouge_l(corpus), cider=cider, bleu_counts=counts
    )


def corpus_bleu(scores: CaptionScores) -> Floats:
    """BLEU-1 to BLEU-4 of all captions as one text; ``(4,)``, in [0, 1]."""
    (bleu,) = bleu_of(scores.bleu_counts.sum(axis=0, keepdims=True))
    return np.asarray(bleu)
