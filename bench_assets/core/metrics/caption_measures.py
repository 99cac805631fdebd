"""Measures of captions over a corpus, from scored questions: CIDEr, ROUGE-L, BLEU.

Document frequencies and BLEU's counts are those of the questions a measure is taken over. The
scorer determines the tokenizer.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import nan

import numpy as np

from bench_assets.core.metrics.aggregates import Aggregate, Scored
from bench_assets.core.metrics.captions import (
    CaptionPair,
    CaptionScores,
    Tokenize,
    bleu_of,
    score_captions,
)
from bench_assets.core.metrics.ptb_tokenizer import tokenize
from bench_assets.core.stats.means import Floats, Mean, jackknife_interval

COCO, OFFICIAL = "coco", "official"  # scorers
_MAX_CIDER = 10.0  # maximum of CIDEr; the other measures end at 1


def cider(scored: Sequence[Scored]) -> Mean:
    """CIDEr, in [0, 10]; papers print 1 as 100."""
    return _corpus_measure(scored, lambda sums: sums[:, 10] / sums[:, 12], _MAX_CIDER)


def rouge_l(scored: Sequence[Scored]) -> Mean:
    """ROUGE-L with beta 1.2, from the best precision and the best recall over the references."""
    return _corpus_measure(scored, lambda sums: sums[:, 11] / sums[:, 12])


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
    return _caption_scores(
        [scored_question for scored_question in scored if scored_question[1].points is not None]
    )


def caption_pair(scored: Scored) -> CaptionPair:
    """A model's caption with its references."""
    question, score = scored
    return CaptionPair(" ".join(score.answer), question.answer)


def tokens_of(scorer: str) -> Tokenize:
    """Tokenizer of a scorer: ``official`` splits at blanks, others as the Penn Treebank does."""
    return str.split if scorer == OFFICIAL else _split


def _scores(captions: Sequence[CaptionPair], scorer: str) -> CaptionScores:
    return score_captions(captions, tokens_of(scorer))


_corpus = lru_cache(maxsize=2)(_scores)  # all measures of a corpus share it


@lru_cache(maxsize=1 << 17)  # a caption is scored by itself, then in its corpus
def _split(text: str) -> tuple[str, ...]:
    return tuple(tokenize(text))


def _caption_scores(scored: Sequence[Scored]) -> CaptionScores:
    scorer = scored[0][1].scorer if scored else ""
    return _corpus(tuple(map(caption_pair, scored)), OFFICIAL if scorer == OFFICIAL else COCO)


def _bleu(scored: Sequence[Scored], orders: slice) -> Mean:
    return _corpus_measure(scored, lambda sums: bleu_of(sums[:, :10])[:, orders].mean(axis=1))


def _corpus_measure(
    scored: Sequence[Scored], measure: Callable[[Floats], Floats], most: float = 1.0
) -> Mean:
    with_points = [
        scored_question for scored_question in scored if scored_question[1].points is not None
    ]
    n_unscored = len(scored) - len(with_points)
    if not with_points:
        return Mean(nan, nan, nan, 0, n_unscored)
    scores = _caption_scores(with_points)
    each = (scores.cider, scores.rouge_l, np.ones(len(with_points)))
    parts = np.hstack([scores.bleu_counts, *(column[:, None] for column in each)])
    (value,) = measure(parts.sum(axis=0, keepdims=True))
    low, high = jackknife_interval(
        parts, [question.cluster for question, _ in with_points], measure, most
    )
    return Mean(float(value), low, high, len(with_points), n_unscored)
