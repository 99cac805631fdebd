"""Scores captions against people's, over the whole corpus (section 4.1).

Document frequencies and BLEU's counts are those of the questions a measure is taken over; how
texts are split, the scorer says.
"""

from collections.abc import Sequence

from bench_assets.core.metrics.caption_measures import COCO, OFFICIAL, caption_scores, tokens_of
from bench_assets.core.metrics.captions import CaptionPair, rouge_l_of
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.evaluation.task import AnsweredQuestion, ScoredQuestion


def score(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Give ROUGE-L of the caption, the only metric of a single caption."""
    return _score(answered, answered.prediction.text, COCO)


def score_officially(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Split texts at blanks, as the authors' script does: case, punctuation and thoughts count."""
    said = answered.prediction.raw_text or answered.prediction.text
    return _score(answered, said, OFFICIAL)


def cider_of_each(scored: Sequence[ScoredQuestion]) -> list[float]:
    """CIDEr of each caption in its corpus; all must have points."""
    return [float(value) for value in caption_scores(scored).cider]


def no_slices(_: Question) -> Sequence[str]:
    """Slice by nothing: a category's captions are no corpus of their own, see ``assets``."""
    return ()


def _score(answered: AnsweredQuestion, text: str, scorer: str) -> Score:
    said = " ".join(text.split())
    points = rouge_l_of(CaptionPair(said, answered.question.answer), tokens_of(scorer))
    return Score.of(answered.prediction, points=points, answer=(said,) if said else ())
