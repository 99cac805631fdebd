"""Scores captions against people's, over the whole corpus (section 4.1).

A measure takes document frequencies and BLEU's counts from the questions that it covers. The
scorer determines the tokenizer.
"""

from collections.abc import Sequence

from bench_assets.core.metrics.caption_measures import COCO, OFFICIAL, caption_scores, tokenizer_of
from bench_assets.core.metrics.captions import CaptionPair, caption_rouge_l
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.evaluation.task import AnsweredQuestion, ScoredQuestion


def score(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Score a caption by ROUGE-L, the only measure here that needs no corpus."""
    return _score(answered, answered.prediction.text, COCO)


def score_officially(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Score as the authors' script: texts are split at blanks; case and reasoning count."""
    text = answered.prediction.raw_text or answered.prediction.text
    return _score(answered, text, OFFICIAL)


def per_caption_cider(scored: Sequence[ScoredQuestion]) -> list[float]:
    """CIDEr of each caption in its corpus; all must have points."""
    return [float(value) for value in caption_scores(scored).cider]


def no_slices(_: Question) -> Sequence[str]:
    """No slices: a category needs the corpus of all captions."""
    return ()


def _score(answered: AnsweredQuestion, text: str, scorer: str) -> Score:
    caption = " ".join(text.split())
    points = caption_rouge_l(CaptionPair(caption, answered.question.answer), tokenizer_of(scorer))
    return Score.of(answered.prediction, points=points, answer=(caption,) if caption else ())
