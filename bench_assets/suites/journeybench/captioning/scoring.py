"""Scores captions against people's, over the whole corpus (section 4.1).

Document frequencies and BLEU's counts are those of the questions a measure is taken over; how
texts are split, the reading says.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import nan
from typing import NamedTuple, Self

import numpy as np

from bench_assets.core.metrics.bleu import bleu_of
from bench_assets.core.metrics.bootstrap import Floats, drawn_sums, interval
from bench_assets.core.metrics.captions import CaptionScores, score_captions
from bench_assets.core.metrics.corpus import Captioned, Tokenize
from bench_assets.core.metrics.ptb import tokenize
from bench_assets.core.metrics.rouge import rouge_l_of
from bench_assets.core.rows import Judgement, Question, Score
from bench_assets.core.stats import Mean
from bench_assets.task import Answered, Measure, Scored

COCO, OFFICIAL = "coco", "official"  # readings
_SEED = 2024  # of the corpora drawn for intervals


def score(answered: Answered, _: Sequence[Judgement]) -> Score:
    """Give ROUGE-L of the caption: the one of the measures that a caption has by itself."""
    return _score(answered, COCO)


def score_officially(answered: Answered, _: Sequence[Judgement]) -> Score:
    """Split texts at blanks, as the authors' script does: case and punctuation count."""
    return _score(answered, OFFICIAL)


def cider(scored: Sequence[Scored]) -> Mean:
    """CIDEr; 1 is what tables print as 100, and 10 the most there is."""
    return _over_corpus(scored, lambda sums, n: sums[:, 10] / n)


def cider_of_each(scored: Sequence[Scored]) -> list[float]:
    """CIDEr of each caption in its corpus; all must have points."""
    return [float(value) for value in caption_scores(scored).cider]


def rouge_l(scored: Sequence[Scored]) -> Mean:
    """ROUGE-L with recall weighed 1.2 times as much as precision, the best of the references."""
    return _over_corpus(scored, lambda sums, n: sums[:, 11] / n)


def bleu(scored: Sequence[Scored]) -> Mean:
    """Mean of BLEU-1 to BLEU-4: the authors' script calls it ``bleu``, Table 2 probably BLEU-4."""
    return _bleu(scored, slice(0, 4))


def bleu_n(n: int) -> Measure:
    """Make the measure BLEU-n: 1-grams to n-grams."""

    def measure(scored: Sequence[Scored]) -> Mean:
        return _bleu(scored, slice(n - 1, n))

    measure.__doc__ = f"BLEU-{n} of all captions as one text."
    return measure


def no_slices(_: Question) -> Sequence[str]:
    """Slice by nothing: a category's captions are no corpus of their own, see ``studies``."""
    return ()


def caption_scores(scored: Sequence[Scored]) -> CaptionScores:
    """Score every caption that was given, in order."""
    return _of(scored).scores


def captioned(scored: Scored) -> Captioned:
    """Put a model's caption beside people's."""
    return Captioned(" ".join(scored.score.answer), scored.question.answer)


def _score(answered: Answered, reading: str) -> Score:
    said = " ".join(answered.prediction.text.split())
    points = rouge_l_of(Captioned(said, answered.question.answer), _TOKENS[reading])
    return Score.of(answered.prediction, points=points, answer=(said,) if said else ())


class _Corpus(NamedTuple):
    """A corpus of captions: what each adds to a measure, and sums over corpora drawn from it."""

    scores: CaptionScores
    drawn: Floats  # (draws, 12): of the columns of `parts`

    @classmethod
    def of(cls, captions: Sequence[Captioned], reading: str) -> Self:
        scores = score_captions(captions, _TOKENS[reading])
        several = len(captions) > 1  # one caption says nothing about how they spread
        drawn = drawn_sums(_parts(scores), np.random.default_rng(_SEED)) if several else _NO_DRAWS
        return cls(scores, drawn)


_corpus = lru_cache(maxsize=2)(_Corpus.of)  # every measure asks for the same one


def _parts(scores: CaptionScores) -> Floats:
    return np.hstack([scores.bleu_counts, scores.cider[:, None], scores.rouge_l[:, None]])


@lru_cache(maxsize=1 << 17)  # a caption is scored by itself, then in its corpus
def _split(text: str) -> tuple[str, ...]:
    return tuple(tokenize(text))


_TOKENS: dict[str, Tokenize] = {COCO: _split, OFFICIAL: str.split}
_NO_DRAWS = np.full((1, 12), nan)


def _of(scored: Sequence[Scored]) -> _Corpus:
    given = [one for one in scored if one.score.points is not None]
    reading = scored[0].score.reading if scored else ""
    return _corpus(tuple(map(captioned, given)), OFFICIAL if reading == OFFICIAL else COCO)


def _bleu(scored: Sequence[Scored], orders: slice) -> Mean:
    return _over_corpus(scored, lambda sums, _: bleu_of(sums[:, :10])[:, orders].mean(axis=1))


def _over_corpus(scored: Sequence[Scored], measure: Callable[[Floats, int], Floats]) -> Mean:
    corpus = _of(scored)
    parts = _parts(corpus.scores)
    n = len(parts)
    value = float(measure(parts.sum(axis=0, keepdims=True), n)[0]) if n else nan
    low, high = interval(measure(corpus.drawn, n)) if n > 1 else (nan, nan)
    return Mean(value, low, high, n, len(scored) - n)
