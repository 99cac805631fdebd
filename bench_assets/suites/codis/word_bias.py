"""How often a model says each of two opposite words (section 5.2, Table 6)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench_assets.suites.codis.answers import final_answer
from bench_assets.suites.codis.words import normalised, phrase_in
from bench_assets.task import Answered


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCount:
    """How often one word of a pair of opposites is expected, and how often it is said."""

    model: str
    condition: str
    word: str
    opposite: str
    n_queries: int  # answered queries whose ground truth has the word or its opposite
    in_ground_truth: int  # of these, those whose ground truth has the word
    in_predictions: int  # of these, those whose final answer has the word


def word_bias(
    answered: Sequence[Answered], word_pairs: Iterable[tuple[str, str]]
) -> list[WordCount]:
    """Count whole words in the final answers of one model; two rows for each pair of words.

    A word inside its longer opposite ("appropriate" in "not appropriate") is not counted. A query
    that was not answered is left out, and an answer with both words counts for both.
    """
    replied = [pair for pair in answered if not pair.prediction.error]
    return [
        _count(replied, word, opposite)
        for pair in word_pairs
        for word, opposite in (pair, pair[::-1])
        if replied
    ]


def _count(answered: Sequence[Answered], word: str, opposite: str) -> WordCount:
    expected = [_says(" ".join(q.answer), word, opposite) for q, _ in answered]
    other_expected = [_says(" ".join(q.answer), opposite, word) for q, _ in answered]
    said = [_says(final_answer(p.text), word, opposite) for _, p in answered]
    about = [one or other for one, other in zip(expected, other_expected, strict=True)]
    return WordCount(
        model=answered[0].prediction.model,
        condition=answered[0].prediction.condition,
        word=word,
        opposite=opposite,
        n_queries=sum(about),
        in_ground_truth=sum(expected),
        in_predictions=sum(s and a for s, a in zip(said, about, strict=True)),
    )


def _says(text: str, word: str, opposite: str) -> bool:
    words, sought, longer = normalised(text), normalised(word), normalised(opposite)
    if phrase_in(sought, longer):
        words = words.replace(longer, " ")
    return phrase_in(sought, words)
