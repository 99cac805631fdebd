"""Scores captions against people's, over the whole corpus (section 4.1).

Document frequencies and BLEU's counts are those of the questions a measure is taken over; how
texts are split, the reading says.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import nan

import numpy as np

from bench_assets.core.metrics.bootstrap import Floats, bootstrap_interval
from bench_assets.core.metrics.captions import (
    Captioned,
    CaptionScores,
    bleu_of,
    score_captions,
)
from bench_assets.core.metrics.ptb import tokenize
from bench_assets.core.rows import Judgement, Question, Score
from bench_assets.core.stats import Mean
from bench_assets.task import Answered, Measure, Scored

OFFICIAL = "official"
_SEED = 2024  # of the corpora drawn for intervals


def score(answered: Answered, _: Sequence[Judgement]) -> Score:
    """Give ROUGE-L of the caption: the one of the measures that a caption has by itself."""
    return _score(answered, "coco")


def score_officially(answered: Answered, _: Sequence[Judgement]) -> Score:
    """Split texts at blanks, as the authors' script does: case and punctuation count."""
    return _score(answered, OFFICIAL)


def cider(scored: Sequence[Scored]) -> Mean:
    """CIDEr; 1 is what tables print as 100, and 10 the most there is."""
    return _mean(scored, caption_scores(scored).cider)


def rouge_l(scored: Sequence[Scored]) -> Mean:
    """ROUGE-L with recall weighed 1.2 times as much as precision, the best of the references."""
    return _mean(scored, caption_scores(scored).rouge_l)


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
    return _scores(tuple(map(captioned, _given(scored))), _reading(scored))


def captioned(scored: Scored) -> Captioned:
    """Put a model's caption beside people's."""
    return Captioned(" ".join(scored.score.answer), scored.question.answer)


def _score(answered: Answered, reading: str) -> Score:
    said = " ".join(answered.prediction.text.split())
    scores = _scores((Captioned(said, answered.question.answer),), reading)
    points = float(scores.rouge_l[0])
    return Score.of(answered.prediction, points=points, answer=(said,) if said else ())


@lru_cache(maxsize=2)  # every measure asks for the same corpus
def _scores(captions: tuple[Captioned, ...], reading: str) -> CaptionScores:
    return score_captions(captions, str.split if reading == OFFICIAL else tokenize)


def _given(scored: Sequence[Scored]) -> list[Scored]:
    return [one for one in scored if one.score.points is not None]


def _reading(scored: Sequence[Scored]) -> str:
    return scored[0].score.reading if scored else ""


def _mean(scored: Sequence[Scored], values: Floats) -> Mean:
    n = max(1, len(values))
    return _over_corpus(scored, values[:, None], lambda sums: sums[:, 0] / n)


def _bleu(scored: Sequence[Scored], orders: slice) -> Mean:
    counts = caption_scores(scored).bleu_counts
    return _over_corpus(scored, counts, lambda sums: bleu_of(sums)[:, orders].mean(axis=1))


def _over_corpus(
    scored: Sequence[Scored], parts: Floats, measure: Callable[[Floats], Floats]
) -> Mean:
    n = len(parts)
    value = float(measure(parts.sum(axis=0, keepdims=True))[0]) if n else nan
    low, high = bootstrap_interval(parts, measure, np.random.default_rng(_SEED))
    return Mean(value, low, high, n, len(scored) - n)
