"""CIDEr(-D) as COCO's caption evaluation defines it; the same n-grams are matched for BLEU."""

import numpy as np

from bench_assets.core.metrics.corpus import MAX_N, Corpus, Floats, Ngrams, looked_up, ngrams

_SIGMA = 6.0  # of the penalty on a difference in length, in bigrams


def matches_and_cider(corpus: Corpus) -> tuple[Floats, Floats]:
    """Matched n-grams for BLEU ``(n, 4)``, and CIDEr ``(n,)``."""
    matched, similarity = np.zeros((corpus.n, MAX_N)), np.zeros(len(corpus.owner) - corpus.n)
    for n, grams in enumerate(ngrams(corpus)):
        matched[:, n], similar = _compare(corpus, grams)
        similarity += similar
    own, theirs = corpus.lengths[: corpus.n], corpus.lengths[corpus.n :]
    owner = corpus.owner[corpus.n :]
    difference = (own[owner] - theirs).astype(float)  # in tokens as in bigrams
    similarity *= np.exp(-(difference**2) / (2 * _SIGMA**2)) / MAX_N
    per_caption = np.bincount(owner, similarity, corpus.n) / np.bincount(owner, minlength=corpus.n)
    return matched, 10 * per_caption


def _compare(corpus: Corpus, grams: Ngrams) -> tuple[Floats, Floats]:
    """For one n: matches of each candidate, and cosine of each reference with its candidate."""
    cut = np.searchsorted(grams.text, corpus.n)
    own, theirs = (Ngrams(*(a[part] for a in grams)) for part in (slice(cut), slice(cut, None)))
    width = len(corpus.tokens)
    owner = corpus.owner[theirs.text]
    # In how many captions' references, and at most how often in one of them, an n-gram is.
    pairs, group = np.unique(owner * width + theirs.ngram, return_inverse=True)
    frequency = np.bincount(pairs % width, minlength=width)
    most = np.zeros(len(pairs), np.int64)
    np.maximum.at(most, group, theirs.times)
    keys = own.text * width + own.ngram  # sorted, as both its parts are
    matches = np.minimum(own.times, looked_up(keys, pairs, most))
    matched = np.bincount(own.text, matches, corpus.n).astype(float)
    idf = np.log(max(1, corpus.n)) - np.log(np.maximum(1, frequency))
    weight, ref_weight = own.times * idf[own.ngram], theirs.times * idf[theirs.ngram]
    norm = np.sqrt(np.bincount(grams.text, np.r_[weight, ref_weight] ** 2, len(corpus.owner)))
    shared = looked_up(owner * width + theirs.ngram, keys, weight)
    parts = np.minimum(shared, ref_weight) * ref_weight
    dot = np.bincount(theirs.text, parts, len(corpus.owner))[corpus.n :].astype(float)
    length = norm[: corpus.n][corpus.owner[corpus.n :]] * norm[corpus.n :]
    similar = np.divide(dot, length, out=dot, where=length != 0)
    return matched, similar
