"""Metrics as plain functions, ``bench.metrics``: lists of texts in, one number out.

The suites use the same functions. Each item has a list of references, any of which is right.
Without items, a metric is NaN; lists of unequal length are a ``ValueError``.
"""

from collections.abc import Callable, Sequence
from math import nan

from bench_assets.core.metrics import captions as _captions
from bench_assets.core.metrics import retrieval as _retrieval
from bench_assets.core.metrics import short_answers as _short_answers
from bench_assets.core.metrics.ptb_tokenizer import tokenize

__all__ = [
    "anls",
    "bleu",
    "cider",
    "exact_match",
    "meteor",
    "recall_at",
    "relaxed_match",
    "rouge_l",
]

References = Sequence[Sequence[str]]


def cider(candidates: Sequence[str], references: References) -> float:
    """CIDEr-D of captions, in [0, 10]; papers print it times 100.

    Document frequencies come from ``references``, so a single caption scores 0.

    >>> cider(["a red cat", "two dogs"], [["a red cat"], ["two big dogs"]]) > 1
    True
    """
    return _mean(_caption_scores(candidates, references).cider.tolist())


def bleu(candidates: Sequence[str], references: References, n: int = 4) -> float:
    """Corpus-level BLEU with n-grams up to ``n`` (1 to 4), in [0, 1].

    >>> round(bleu(["a red cat sat down"], [["a red cat sat up"]], n=1), 4)
    0.8
    """
    if n not in range(1, _captions.MAX_N + 1):
        raise ValueError(f"n: expected 1 to {_captions.MAX_N}, got {n}")
    scores = _caption_scores(candidates, references)
    return float(_captions.corpus_bleu(scores)[n - 1]) if candidates else nan


def rouge_l(candidates: Sequence[str], references: References) -> float:
    """ROUGE-L as computed by COCO's caption evaluation, in [0, 1].

    >>> rouge_l(["a red cat"], [["a red cat", "a dog"]])
    1.0
    """
    return _mean(_caption_scores(candidates, references).rouge_l.tolist())


def meteor(candidates: Sequence[str], references: References) -> float:
    """Corpus-level METEOR 1.5, in [0, 1]; runs a Java program.

    Raises:
        ModelError: If Java is not installed.

    >>> meteor([], [])
    nan
    """
    from bench_resources.encoders.meteor import meteor as score_captions

    captions = [
        (tokenize(candidate), [tokenize(text) for text in texts])
        for candidate, texts in _pairs(candidates, references)
    ]
    return score_captions(captions).corpus if captions else nan


def exact_match(responses: Sequence[str], references: References) -> float:
    """Share of the responses that are a reference, or the same number.

    >>> exact_match(["4.0", "six"], [["4"], ["5"]])
    0.5
    """
    return _mean_score(_short_answers.exact_match, responses, references)


def anls(responses: Sequence[str], references: References) -> float:
    """Average normalized Levenshtein similarity, in [0, 1].

    As in the challenge's script (Biten et al., 2019), a similarity below 0.5 counts as 0.

    >>> anls(["hello", "ab"], [["hallo"], ["ac"]])
    0.65
    """
    return _mean_score(_short_answers.anls, responses, references)


def relaxed_match(responses: Sequence[str], references: References) -> float:
    """Share of the responses that are a reference, or a number within 5 % of it (ChartQA).

    >>> relaxed_match(["96 %", "94"], [["100"], ["100"]])
    0.5
    """
    return _mean_score(_short_answers.relaxed_match, responses, references)


def recall_at(k: int, rankings: Sequence[Sequence[str]], right: References) -> float:
    """Share of the rankings with a right candidate among the first k.

    >>> recall_at(1, [["a", "b"], ["a", "b"]], [["a"], ["b"]])
    0.5
    >>> recall_at(0, [["a"]], [["a"]])
    Traceback (most recent call last):
    ValueError: k: expected 1 or more, got 0
    """
    if k < 1:
        raise ValueError(f"k: expected 1 or more, got {k}")
    pairs = zip(rankings, right, strict=True)
    return _mean([_retrieval.recall_at(k, ranking, candidates) for ranking, candidates in pairs])


def _caption_scores(candidates: Sequence[str], references: References) -> _captions.CaptionScores:
    pairs = [_captions.CaptionPair(*pair) for pair in _pairs(candidates, references)]
    return _captions.score_captions(pairs)


def _mean_score(
    score: Callable[[str, Sequence[str]], float], responses: Sequence[str], references: References
) -> float:
    return _mean([score(*pair) for pair in _pairs(responses, references)])


def _pairs(texts: Sequence[str], references: References) -> list[tuple[str, tuple[str, ...]]]:
    if len(texts) != len(references):
        raise ValueError(
            f"references: expected {len(texts)} lists, one per text, got {len(references)}"
        )
    for index, alternatives in enumerate(references):
        if isinstance(alternatives, str):
            raise ValueError(f"references[{index}]: expected a list of texts, got one text")
    return [(text, tuple(right)) for text, right in zip(texts, references, strict=True)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else nan
