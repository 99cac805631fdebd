"""Measures of captions over a corpus, from scored questions: CIDEr, ROUGE-L, BLEU.

Document frequencies and BLEU's counts are those of the questions a measure is taken over. The
scorer determines the tokenizer.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import nan
from typing import NamedTuple

import numpy as np

from bench_assets.core.metrics.aggregates import Aggregate, Scored, drop_unscored, mean_from_counts
from bench_assets.core.metrics.captions import (
    CaptionPair,
    CaptionScores,
    Tokenize,
    bleu_of,
    score_captions,
)
from bench_assets.core.metrics.ptb_tokenizer import tokenize
from bench_assets.core.stats.means import Floats, Mean

COCO, OFFICIAL = "coco", "official"  # scorers
_MAX_CIDER = 10.0  # maximum of CIDEr; the other measures end at 1


class _Sums(NamedTuple):
    """Rows of sums over captions."""

    bleu_counts: Floats
    cider: Floats
    rouge_l: Floats
    n_captions: Floats


def cider(scored: Sequence[Scored]) -> Mean:
    """CIDEr, in [0, 10]; papers print 1 as 100."""
    return _corpus_measure(scored, lambda sums: sums.cider / sums.n_captions, top=_MAX_CIDER)


def rouge_l(scored: Sequence[Scored]) -> Mean:
    """ROUGE-L with beta 1.2, from the best precision and the best recall over the references."""
    return _corpus_measure(scored, lambda sums: sums.rouge_l / sums.n_captions)


def mean_bleu(scored: Sequence[Scored]) -> Mean:
    """Mean of BLEU-1 to BLEU-4."""
    return _bleu(scored, slice(None))


def bleu_n(n: int) -> Aggregate:
    """Make the measure BLEU-n: 1-grams to n-grams."""

    def measure(scored: Sequence[Scored]) -> Mean:
        return _bleu(scored, slice(n - 1, n))

    measure.__doc__ = f"BLEU-{n} of all captions as one text."
    return measure


def caption_scores(scored: Sequence[Scored]) -> CaptionScores:
    """Score the captions of all questions with points, in order."""
    with_points, _ = drop_unscored(scored)
    return _caption_scores(with_points)


def caption_pair(scored: Scored) -> CaptionPair:
    """A model's caption with its references."""
    question, score = scored
    return CaptionPair(" ".join(score.answer), question.answer)


def tokenizer_of(scorer: str) -> Tokenize:
    """Tokenizer of a scorer: ``official`` splits at blanks, others as the Penn Treebank does."""
    return str.split if scorer == OFFICIAL else _ptb_tokens


@lru_cache(maxsize=2)  # all measures of a corpus share its scores
def _corpus_scores(captions: tuple[CaptionPair, ...], scorer: str) -> CaptionScores:
    return score_captions(captions, tokenizer_of(scorer))


@lru_cache(maxsize=1 << 17)  # a caption is scored by itself, then in its corpus
def _ptb_tokens(text: str) -> tuple[str, ...]:
    return tuple(tokenize(text))


def _caption_scores(scored: Sequence[Scored]) -> CaptionScores:
    """Score captions with the scorer of the first one; all have the same."""
    first_scorer = next((score.scorer for _, score in scored), COCO)
    scorer = OFFICIAL if first_scorer == OFFICIAL else COCO
    return _corpus_scores(tuple(map(caption_pair, scored)), scorer)


def _bleu(scored: Sequence[Scored], orders: slice) -> Mean:
    """Mean of some columns of BLEU-1 to BLEU-4."""
    return _corpus_measure(scored, lambda sums: bleu_of(sums.bleu_counts)[:, orders].mean(axis=1))


def _corpus_measure(
    scored: Sequence[Scored], measure: Callable[[_Sums], Floats], top: float = 1.0
) -> Mean:
    """A measure of sums, at most ``top``, with its interval by jackknife."""
    with_points, n_unscored = drop_unscored(scored)
    if not with_points:
        return Mean(value=nan, low=nan, high=nan, n_scored=0, n_unscored=n_unscored)
    scores = _caption_scores(with_points)
    ones = np.ones(len(with_points))
    rows = np.column_stack([scores.cider, scores.rouge_l, ones, scores.bleu_counts])

    def measure_rows(sums: Floats) -> Floats:
        cider, rouge_l, n = sums.T[:3]
        return measure(_Sums(bleu_counts=sums[:, 3:], cider=cider, rouge_l=rouge_l, n_captions=n))

    return mean_from_counts(with_points, rows, measure_rows, n_unscored, top)
