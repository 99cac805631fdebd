"""BLEU, ROUGE-L and CIDEr of a whole corpus of captions at once.

The values are those of pycocoevalcap, to within rounding, corpus and item alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench_assets.core.metrics.bleu import bleu_of
from bench_assets.core.metrics.cider import matches_and_cider
from bench_assets.core.metrics.corpus import Captioned, Corpus, Floats, Tokenize
from bench_assets.core.metrics.ptb import tokenize
from bench_assets.core.metrics.rouge import rouge_l


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionScores:
    """Scores of each caption, in order; and what BLEU of any set of them is made from."""

    bleu: Floats  # (n, 4): BLEU-1 to BLEU-4 of each caption alone
    rouge_l: Floats  # (n,), [0, 1]
    cider: Floats  # (n,), [0, 10]
    bleu_counts: Floats  # (n, 10): tokens, closest reference's tokens, 4 x matched, 4 x possible


def score_captions(captions: Sequence[Captioned], tokens: Tokenize = tokenize) -> CaptionScores:
    """Score every caption of a corpus; document frequencies are those of its references.

    Args:
        captions: The corpus, each caption with at least one reference.
        tokens: How a text is split; the Penn Treebank's way unless a paper does otherwise.

    Raises:
        ValueError: If a caption has no reference, or its references are one text.

    >>> cat = Captioned("a red cat", ("a red cat", "the cat is red"))
    >>> score_captions([cat, Captioned("dogs", ("cats",))]).rouge_l.tolist()
    [1.0, 0.0]
    """
    for position, caption in enumerate(captions):
        if isinstance(caption.references, str) or not caption.references:
            raise ValueError(f"caption {position}: references are {caption.references!r:.60}")
    corpus = Corpus.of(captions, tokens)
    matched, cider = matches_and_cider(corpus)
    counts = np.hstack([corpus.lengths_to_compare(), matched, corpus.possible()])
    return CaptionScores(
        bleu=bleu_of(counts), rouge_l=rouge_l(corpus), cider=cider, bleu_counts=counts
    )


def corpus_bleu(scores: CaptionScores) -> Floats:
    """BLEU-1 to BLEU-4 of all captions as one text; ``(4,)``, in [0, 1]."""
    (bleu,) = bleu_of(scores.bleu_counts.sum(axis=0, keepdims=True))
    return np.asarray(bleu)
