"""Scores captions against people's, over the whole corpus (section 4.1).

Document frequencies and BLEU's counts are those of the questions a measure is taken over; how
texts are split, the scorer says.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import nan

import numpy as np

from bench_assets.core.metrics.captions import (
    CaptionPair,
    CaptionScores,
    Tokenize,
    bleu_of,
    rouge_l_of,
    score_captions,
)
from bench_assets.core.metrics.ptb_tokenizer import tokenize
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.core.stats.means import Floats, Mean, interval
from bench_assets.evaluation.task import AnsweredQuestion, Measure, ScoredQuestion

COCO, OFFICIAL = "coco", "official"  # scorers
_MOST = 10.0  # CIDEr there is; all else ends at 1


def score(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Give ROUGE-L of the caption, the only metric of a single caption."""
    return _score(answered, answered.prediction.text, COCO)


def score_officially(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Split texts at blanks, as the authors' script does: case, punctuation and thoughts count."""
    said = answered.prediction.raw_text or answered.prediction.text
    return _score(answered, said, OFFICIAL)


def cider(scored: Sequence[ScoredQuestion]) -> Mean:
    """CIDEr; 1 is what tables print as 100, and 10 the most there is."""
    return _over_corpus(scored, lambda sums: sums[:, 10] / sums[:, 12], _MOST)


def cider_of_each(scored: Sequence[ScoredQuestion]) -> list[float]:
    """CIDEr of each caption in its corpus; all must have points."""
    return [float(value) for value in caption_scores(scored).cider]


def rouge_l(scored: Sequence[ScoredQuestion]) -> Mean:
    """ROUGE-L with recall weighed 1.2 times as much as precision, the best of the references."""
    return _over_corpus(scored, lambda sums: sums[:, 11] / sums[:, 12])


def bleu(scored: Sequence[ScoredQuestion]) -> Mean:
    """Mean of BLEU-1 to BLEU-4: the authors' script calls it ``bleu``, Table 2 probably BLEU-4."""
    return _bleu(scored, slice(None))


def bleu_n(n: int) -> Measure:
    """Make the measure BLEU-n: 1-grams to n-grams."""

    def measure(scored: Sequence[ScoredQuestion]) -> Mean:
        return _bleu(scored, slice(n - 1, n))

    measure.__doc__ = f"BLEU-{n} of all captions as one text."
    return measure


def no_slices(_: Question) -> Sequence[str]:
    """Slice by nothing: a category's captions are no corpus of their own, see ``assets``."""
    return ()


def caption_scores(scored: Sequence[ScoredQuestion]) -> CaptionScores:
    """Score every caption that was given, in order."""
    return _of([one for one in scored if one.score.points is not None])


def captioned(scored: ScoredQuestion) -> CaptionPair:
    """A model's caption beside people's."""
    return CaptionPair(" ".join(scored.score.answer), scored.question.answer)


def _score(answered: AnsweredQuestion, text: str, scorer: str) -> Score:
    said = " ".join(text.split())
    points = rouge_l_of(CaptionPair(said, answered.question.answer), _TOKENS[scorer])
    return Score.of(answered.prediction, points=points, answer=(said,) if said else ())


def _scores(captions: Sequence[CaptionPair], scorer: str) -> CaptionScores:
    return score_captions(captions, _TOKENS[scorer])


_corpus = lru_cache(maxsize=2)(_scores)  # every measure asks for the same one


@lru_cache(maxsize=1 << 17)  # a caption is scored by itself, then in its corpus
def _split(text: str) -> tuple[str, ...]:
    return tuple(tokenize(text))


_TOKENS: dict[str, Tokenize] = {COCO: _split, OFFICIAL: str.split}


def _of(scored: Sequence[ScoredQuestion]) -> CaptionScores:
    scorer = scored[0].score.scorer if scored else ""
    return _corpus(tuple(map(captioned, scored)), OFFICIAL if scorer == OFFICIAL else COCO)


def _bleu(scored: Sequence[ScoredQuestion], orders: slice) -> Mean:
    return _over_corpus(scored, lambda sums: bleu_of(sums[:, :10])[:, orders].mean(axis=1))


def _over_corpus(
    scored: Sequence[ScoredQuestion], measure: Callable[[Floats], Floats], most: float = 1.0
) -> Mean:
    given = [one for one in scored if one.score.points is not None]
    n_unscored = len(scored) - len(given)
    if not given:
        return Mean(nan, nan, nan, 0, n_unscored)
    scores = _of(given)
    each = (scores.cider, scores.rouge_l, np.ones(len(given)))
    parts = np.hstack([scores.bleu_counts, *(column[:, None] for column in each)])
    (value,) = measure(parts.sum(axis=0, keepdims=True))
    low, high = interval(parts, [one.question.cluster for one in given], measure, most)
    return Mean(float(value), low, high, len(given), n_unscored)
