"""Surface classifier: predicts the key from the wording of options alone.

A conditional logit over features of options, with five-fold cross-validation over clusters. Scores
of simpler guesses with checks of their own (letters, lengths, numbers, answers in the question) are
not attributed to the classifier.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from bench_assets.audit.framework.evidence import Evidence, Floats
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.framework.significance import chance_levels, compare_with_chance
from bench_assets.audit.framework.text_normalization import (
    contains,
    content_words,
    question_words,
    with_key_index,
)
from bench_assets.audit.shortcuts.guessable_keys import (
    Keyed,
    Weigh,
    length_guesses,
    number_guesses,
    option_guess,
)
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.paired_tests import cluster_questions

_FOLDS = 5
_WORDS = 96  # hash buckets for the words of options
_MIN_QUESTIONS = 40  # fewest questions to train on
_ROUNDS = 80
_RIDGE = 0.02  # L2 penalty; the mean loss is about 1
_OPTIONS = 10  # questions with more options are left out

_NEGATIONS = frozenset(
    ["no", "not", "none", "never", "nothing", "neither", "nor", "cannot", "不", "没", "无", "非"]
)
_ABSOLUTE_WORDS = frozenset(
    ["all", "always", "only", "every", "must", "completely", "都", "只", "必", "总", "全"]
)
_Singles = npt.NDArray[np.float32]


class _QuestionArrays(NamedTuple):
    """Questions as arrays."""

    features: _Singles  # (questions, options, features); 0 where there is no option
    there: npt.NDArray[np.bool_]  # (questions, options)
    keys: npt.NDArray[np.int64]

    def of(self, rows: npt.NDArray[np.int64]) -> "_QuestionArrays":
        return _QuestionArrays(self.features[rows], self.there[rows], self.keys[rows])


@audit_check("surface", "Does the wording of options reveal the right one?")
def surface_finding(evidence: Evidence) -> AuditFinding:
    """Predict the key from the wording of options, cross-validated."""
    keyed = [
        (one, key)
        for one, key in with_key_index(evidence.questions)
        if len(one.options) <= _OPTIONS
    ]
    if len(keyed) < _MIN_QUESTIONS:
        raise SkippedCheckError(f"{len(keyed)} questions with options; {_MIN_QUESTIONS} are needed")
    clusters = cluster_questions([one for one, _ in keyed])
    names = [clusters[one.question_id] for one, _ in keyed]
    hits = cross_validate(_to_arrays(keyed), names)
    simpler = _simpler(keyed)
    chances = chance_levels([len(one.options) for one, _ in keyed], simpler)
    found = compare_with_chance(hits, chances, names)
    suspects = [
        Suspect(one.question_id, "guessed right from the wording of its options", float(hit))
        for (one, _), hit in zip(keyed, hits, strict=True)
        if found.is_significant and hit == 1
    ]
    verdict = "beats" if found.is_significant else "does not beat"
    return AuditFinding(
        failed=found.is_significant,
        sentence=f"A classifier over the wording of options {verdict} chance and single features:"
        f" {found}.",
        n=len(keyed),
        suspects=suspects,
    )


def cross_validate(laid: _QuestionArrays, clusters: Sequence[str]) -> Floats:
    """Accuracy on each question of a classifier trained on other clusters."""
    folds = np.array([sha256(one.encode()).digest()[0] % _FOLDS for one in clusters])
    hits = np.zeros(len(clusters))
    for fold in range(_FOLDS):
        test, train = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
        if len(test) and len(train):
            weights = _fit(laid.of(train))
            hits[test] = _hits(weights, laid.of(test))
        else:
            hits[test] = 1 / laid.there[test].sum(axis=1)
    return hits


def _hits(weights: _Singles, laid: _QuestionArrays) -> Floats:
    sums = np.where(laid.there, np.round(laid.features @ weights, 4), -np.inf)
    is_best = sums == sums.max(axis=1, keepdims=True)
    rows = np.arange(len(laid.keys))
    return np.asarray(is_best[rows, laid.keys] / is_best.sum(axis=1), dtype=np.float64)


def _fit(laid: _QuestionArrays) -> _Singles:
    """Fit by accelerated gradient steps (Nesterov, 1983); the loss is convex and smooth."""
    features, mask, keys = laid
    rows = np.arange(len(keys))
    right = np.zeros(mask.shape, np.float32)
    right[rows, keys] = 1
    step = 1 / (0.5 * float((features**2).sum(axis=2).max(axis=1).mean()) + _RIDGE)
    weights = np.zeros(features.shape[2], np.float32)
    ahead = weights
    for number in range(_ROUNDS):
        sums = np.where(mask, features @ ahead, -np.inf)
        shares = np.exp(sums - sums.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        slope = np.tensordot(shares - right, features, axes=2) / len(keys) + _RIDGE * ahead
        stepped = (ahead - step * slope).astype(np.float32)
        ahead = stepped + np.float32(number / (number + 3)) * (stepped - weights)
        weights = stepped
    return weights


def _simpler(keyed: Keyed) -> float:
    """Best score of the guesses that have checks of their own."""
    most = max(len(one.options) for one, _ in keyed)
    words_by_question = {one.question_id: question_words(one) for one, _ in keyed}
    guesses: list[Weigh] = [
        *(partial(_option_at, n) for n in range(most)),
        *length_guesses().values(),
        *(lambda q, way=way: way(q) or [0.0] * len(q.options) for way in number_guesses().values()),
        lambda q: [
            float(contains(words_by_question[q.question_id], content_words(option)))
            for option in q.options
        ],
    ]
    return max(option_guess(keyed, weigh, {}).share for weigh in guesses)


def _option_at(place: int, question: Question) -> list[float]:
    return [float(n == place) for n in range(len(question.options))]


def _to_arrays(keyed: Keyed) -> _QuestionArrays:
    most = max(len(one.options) for one, _ in keyed)
    offered = Counter(content_words(option) for one, _ in keyed for option in one.options)
    mask = np.zeros((len(keyed), most), bool)
    rows = [_features(one, offered) for one, _ in keyed]
    features = np.zeros((len(keyed), most, rows[0].shape[1]), np.float32)
    for number, row in enumerate(rows):
        features[number, : len(row)] = row
        mask[number, : len(row)] = True
    spread = features[mask].std(axis=0)
    features /= np.where(spread > 0, spread, 1)
    return _QuestionArrays(features, mask, np.array([key for _, key in keyed]))


def _features(question: Question, offered: Counter[tuple[str, ...]]) -> _Singles:
    """Features of each option: words and rank among the options, minus their mean."""
    texts = [content_words(option) for option in question.options]
    in_question = set(question_words(question))
    rows = np.zeros((len(texts), _WORDS + 8), np.float32)
    for n, (text, option) in enumerate(zip(texts, question.options, strict=True)):
        own = set(text)
        for word in own:
            rows[n, crc32(word.encode()) % _WORDS] += 1
        others = [set(other) for at, other in enumerate(texts) if at != n]
        rows[n, _WORDS:] = (
            len(own & in_question) / max(1, len(own)),
            sum(len(own & one) / max(1, len(own | one)) for one in others) / len(others),
            bool(own & _NEGATIONS),
            bool(own & _ABSOLUTE_WORDS),
            option.strip()[-1:] in ".!?。",
            option.strip()[:1].isupper(),
            any(letter.isdigit() for letter in option),
            np.log1p(offered[text]),
        )
    return np.asarray(rows - rows.mean(axis=0), np.float32)
