"""BLEU, ROUGE-L and CIDEr of a whole corpus of captions at once.

The values equal those of pycocoevalcap to within rounding, for corpora and single captions: BLEU-1
to BLEU-4, CIDEr-D and ROUGE-L as in COCO's caption evaluation. Texts are arrays of token numbers,
and n-grams are counted by sorting instead of in dictionaries.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bench_assets.core.metrics.ptb_tokenizer import tokenize
from bench_assets.core.stats.means import Floats

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
    def of(cls, captions: Sequence[CaptionPair], tokenizer: Tokenize) -> "Corpus":
        """Number the tokens of all captions and references."""
        texts = [caption.candidate for caption in captions]
        texts += chain.from_iterable(caption.references for caption in captions)
        text_tokens = [tokenizer(text) for text in texts]
        lengths = np.fromiter(map(len, text_tokens), np.int64, len(text_tokens))
        numbers: dict[str, int] = {}
        all_tokens = chain.from_iterable(text_tokens)
        token_numbers = [numbers.setdefault(token, len(numbers)) for token in all_tokens]
        candidate_owner = np.arange(len(captions))
        n_references = [len(caption.references) for caption in captions]
        return cls(
            tokens=np.array(token_numbers, np.int64),
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            owner=np.concatenate([candidate_owner, np.repeat(candidate_owner, n_references)]),
            n=len(captions),
        )

    @property
    def lengths(self) -> Ints:
        """Tokens of each text."""
        return np.asarray(np.diff(self.starts))

    def reference_lengths(self) -> Floats:
        """Length of each candidate and of its closest reference, ``(n, 2)``; ties: the shorter."""
        own_lengths, ref_lengths = self.lengths[: self.n], self.lengths[self.n :]
        owner = self.owner[self.n :]
        distance = np.abs(ref_lengths - own_lengths[owner])
        closest_first = np.lexsort((ref_lengths, distance, owner))  # within each caption
        first = np.searchsorted(owner, np.arange(self.n))
        closest_lengths = ref_lengths[closest_first][first]
        return np.stack([own_lengths, closest_lengths], axis=1).astype(float)

    def ngram_totals(self) -> Floats:
        """Number of n-grams of each candidate, for n from 1 to 4; ``(n, 4)``."""
        totals: Ints = self.lengths[: self.n, None] - np.arange(MAX_N)
        return np.maximum(0, totals).astype(float)


class Ngrams(NamedTuple):
    """Count of each n-gram of one length in each text, sorted by text."""

    text: Ints
    ngram: Ints
    times: Ints


def count_ngrams(corpus: Corpus) -> list[Ngrams]:
    """Count the n-grams of every text, for n from 1 to 4."""
    texts = np.repeat(np.arange(len(corpus.owner)), corpus.lengths)  # of each token
    n_following = np.repeat(corpus.starts[1:], corpus.lengths) - np.arange(len(texts))
    tokens, width = corpus.tokens, len(corpus.tokens)  # there are no more n-grams than tokens
    gram = np.zeros_like(tokens)  # number of the n-gram that begins at each token
    counted = []
    for n in range(1, MAX_N + 1):
        positions = np.flatnonzero(n_following >= n)
        # An n-gram is an (n-1)-gram and one more token: numbered afresh.
        _, numbers = np.unique(
            gram[positions] * width + tokens[positions + n - 1], return_inverse=True
        )
        gram = np.zeros_like(tokens)
        gram[positions] = numbers
        keys, times = np.unique(texts[positions] * width + gram[positions], return_counts=True)
        counted.append(Ngrams(text=keys // width, ngram=keys % width, times=times))
    return counted


def lookup(keys: Ints, known_keys: Ints, values: npt.NDArray[np.generic]) -> Floats:
    """Look up the values of keys among sorted known ones; 0 for an unknown key."""
    if not len(known_keys):
        return np.zeros(len(keys))
    positions = np.minimum(np.searchsorted(known_keys, keys), len(known_keys) - 1)
    return np.where(known_keys[positions] == keys, values[positions], 0).astype(float)


def bleu_of(counts: Floats) -> Floats:
    """BLEU-1 to BLEU-4 of rows of ``bleu_counts``, or of their sums; ``(rows, 4)``, in [0, 1]."""
    n_tokens, n_closest_tokens = counts[:, 0], counts[:, 1]
    matched, possible = counts[:, 2:6], counts[:, 6:]
    # The two small numbers are pycocoevalcap's, against division by zero.
    precision = np.cumprod((matched + 1e-15) / (possible + 1e-9), axis=1)
    ratio = (n_tokens + 1e-15) / (n_closest_tokens + 1e-9)
    brevity = np.exp(1 - 1 / np.minimum(ratio, 1))
    return np.asarray(precision ** (1 / np.arange(1, MAX_N + 1)) * brevity[:, None])


_SIGMA = 6.0  # standard deviation, in bigrams, of the penalty on a difference in length


def matches_and_cider(corpus: Corpus) -> tuple[Floats, Floats]:
    """Matched n-grams for BLEU ``(n, 4)``, and CIDEr ``(n,)``."""
    matched, similarity = np.zeros((corpus.n, MAX_N)), np.zeros(len(corpus.owner) - corpus.n)
    for column, grams in enumerate(count_ngrams(corpus)):
        matched[:, column], cosine = _compare(corpus, grams)
        similarity += cosine
    own_lengths, ref_lengths = corpus.lengths[: corpus.n], corpus.lengths[corpus.n :]
    owner = corpus.owner[corpus.n :]
    difference = (own_lengths[owner] - ref_lengths).astype(float)  # in tokens as in bigrams
    similarity *= np.exp(-(difference**2) / (2 * _SIGMA**2)) / MAX_N
    per_caption = np.bincount(owner, similarity, corpus.n) / np.bincount(owner, minlength=corpus.n)
    return matched, 10 * per_caption


def _compare(corpus: Corpus, grams: Ngrams) -> tuple[Floats, Floats]:
    """For one n: matches of each candidate, and cosine of each reference with its candidate."""
    n_own = np.searchsorted(grams.text, corpus.n)  # n-grams of candidates, which come first
    own_grams = Ngrams(*(column[:n_own] for column in grams))
    ref_grams = Ngrams(*(column[n_own:] for column in grams))
    width = len(corpus.tokens)
    owner = corpus.owner[ref_grams.text]
    # Document frequency of each n-gram, and its largest count in one reference of a caption.
    ref_keys = owner * width + ref_grams.ngram
    distinct_keys, group = np.unique(ref_keys, return_inverse=True)
    frequency = np.bincount(distinct_keys % width, minlength=width)
    max_count = np.zeros(len(distinct_keys), np.int64)
    np.maximum.at(max_count, group, ref_grams.times)
    own_keys = own_grams.text * width + own_grams.ngram  # sorted, as both texts and n-grams are
    matches = np.minimum(own_grams.times, lookup(own_keys, distinct_keys, max_count))
    matched = np.bincount(own_grams.text, matches, corpus.n).astype(float)
    idf = np.log(max(1, corpus.n)) - np.log(np.maximum(1, frequency))
    own_weight = own_grams.times * idf[own_grams.ngram]
    ref_weight = ref_grams.times * idf[ref_grams.ngram]
    norm = np.sqrt(np.bincount(grams.text, np.r_[own_weight, ref_weight] ** 2, len(corpus.owner)))
    shared_weight = lookup(ref_keys, own_keys, own_weight)
    products = np.minimum(shared_weight, ref_weight) * ref_weight
    dot = np.bincount(ref_grams.text, products, len(corpus.owner))[corpus.n :].astype(float)
    norms = norm[: corpus.n][corpus.owner[corpus.n :]] * norm[corpus.n :]
    return matched, np.divide(dot, norms, out=dot, where=norms != 0)


def longest_common(source: Sequence[Hashable], target: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence of two texts.

    Bit-parallel (Hyyrö, 2004): a table of all pairs of words would take gigabytes for a runaway
    response.

    >>> longest_common("abcd", "acbd")
    3
    """
    shorter, longer = sorted((source, target), key=len)
    positions: dict[Hashable, int] = {}  # of each word in the shorter text, as bits
    for position, word in enumerate(shorter):
        positions[word] = positions.get(word, 0) | 1 << position
    everywhere = unmatched = (1 << len(shorter)) - 1
    for word in longer:
        matches = unmatched & positions.get(word, 0)
        unmatched = (unmatched + matches) | (unmatched - matches)
    return len(shorter) - (unmatched & everywhere).bit_count()


_BETA = 1.2  # weight of recall against precision in ROUGE-L


def rouge_l(corpus: Corpus) -> Floats:
    """ROUGE-L, ``(n,)``, from the best precision and the best recall over the references."""
    texts = [corpus.tokens[start:end].tolist() for start, end in pairwise(corpus.starts)]
    references: list[list[list[int]]] = [[] for _ in range(corpus.n)]
    for owner, text in zip(corpus.owner[corpus.n :].tolist(), texts[corpus.n :], strict=True):
        references[owner].append(text)
    return np.array(list(map(_rouge_l, texts[: corpus.n], references)), float)


def caption_rouge_l(caption: CaptionPair, tokenizer: Tokenize = tokenize) -> float:
    """ROUGE-L of one caption, as in ``score_captions``; it does not depend on other captions.

    >>> caption_rouge_l(CaptionPair("a red cat", ("a red cat", "the cat is red")))
    1.0
    """
    return _rouge_l(tokenizer(caption.candidate), map(tokenizer, caption.references))


def _rouge_l(candidate: Sequence[Hashable], references: Iterable[Sequence[Hashable]]) -> float:
    precision = recall = 0.0
    for reference in references:
        common = longest_common(candidate, reference)
        if not candidate and not reference:
            common = 1  # pycocoevalcap splits these into one empty token each
        precision = max(precision, common / max(1, len(candidate)))
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


def score_captions(
    captions: Sequence[CaptionPair], tokenizer: Tokenize = tokenize
) -> CaptionScores:
    """Score every caption of a corpus; document frequencies are those of its references.

    Args:
        captions: The corpus, each caption with at least one reference.
        tokenizer: The Penn Treebank's, unless a paper uses another one.

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
    corpus = Corpus.of(captions, tokenizer)
    matched, cider = matches_and_cider(corpus)
    counts = np.hstack([corpus.reference_lengths(), matched, corpus.ngram_totals()])
    return CaptionScores(
        bleu=bleu_of(counts), rouge_l=rouge_l(corpus), cider=cider, bleu_counts=counts
    )


def corpus_bleu(scores: CaptionScores) -> Floats:
    """BLEU-1 to BLEU-4 of all captions as one text; ``(4,)``, in [0, 1]."""
    (bleu,) = bleu_of(scores.bleu_counts.sum(axis=0, keepdims=True))
    return np.asarray(bleu)
