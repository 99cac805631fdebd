"""Duplicate questions, contradictory duplicates, and redundant items.

Redundant items have similar words and are solved by the same models.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from bench_assets.audit.framework.evidence import Evidence, Results
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.framework.text_normalization import (
    content_words,
    count_phrase,
    question_words,
    right_texts,
)
from bench_assets.audit.items.ambiguous_options import canonical_option, paraphrase_key
from bench_assets.audit.items.item_response_theory import (
    MIN_FIT_MODELS,
    ItemResponseFit,
    fit_item_response,
)
from bench_assets.audit.items.item_statistics import Floats, drop_unscored, incomparable_reason
from bench_assets.core.schema.rows import Question

_MIN_LENGTH_RATIO = 0.8  # least length of the shorter of two texts, as a share of the longer
_ENDS = 4  # words that two texts share at their beginning or end
_MIN_TEXT_WORDS = 10  # words of a text without images; shorter ones repeat by accident
_NEIGHBOURS = 30  # questions with a common beginning or end that each is compared with

_MEANING_WORDS = frozenset(
    ["not", "no", "never", "without", "except", "least", "most", "first", "last"]
)
"""Words that change the meaning of a question."""


@audit_check("repeated_questions", "Are any questions asked twice?")
def repeated_questions(evidence: Evidence) -> AuditFinding:
    """Find questions with the same images, words, options and key."""
    questions = evidence.questions
    suspects = [
        Suspect(one.question_id, f"asks what {other.question_id} asks: {one.text!r:.120}")
        for other, one in [*_equal(questions, duplicate_key), *_nearly_equal(questions)]
        if not _contradicts(one, other)
    ]
    return _finding(suspects, len(questions), "asked twice")


@audit_check("contradicting_keys", "Do any duplicates have different keys?")
def contradicting_keys(evidence: Evidence) -> AuditFinding:
    """Find questions with the same images and words but another key."""
    questions = evidence.questions
    pairs = {
        (other.question_id, one.question_id): (other, one)
        for other, one in [*_equal(questions, duplicate_key), *_equal(questions, paraphrase_key)]
    }
    suspects = [
        Suspect(one.question_id, _describe_conflict(one, other))
        for other, one in pairs.values()
        if _contradicts(one, other) and _contradicts(one, other, canonical_option)
    ]
    return _finding(suspects, len(questions), "answered in two ways")


@audit_check("questions_elsewhere", "Are any questions also in another suite?")
def questions_elsewhere(evidence: Evidence) -> AuditFinding:
    """Find questions of other suites with the same words and images."""
    others = {
        task: questions
        for task, questions in evidence.elsewhere.items()
        if task.split("/")[0] != evidence.task.suite
    }
    if not any(others.values()):
        raise SkippedCheckError("there are no questions of other suites")
    image_keys = {
        _images_key(one) for one in evidence.questions
    }  # words are compared only for equal images
    locations = {
        duplicate_key(one): f"{task}, {one.question_id}"
        for task, questions in others.items()
        for one in questions
        if _images_key(one) in image_keys
    }
    suspects = [
        Suspect(one.question_id, f"is also asked by {locations[key]}")
        for one in evidence.questions
        for key in [duplicate_key(one)]
        if key in locations and (one.images or len(question_words(one)) >= _MIN_TEXT_WORDS)
    ]
    return _finding(suspects, len(evidence.questions), "asked by another suite too")


def _finding(suspects: Sequence[Suspect], n: int, how: str) -> AuditFinding:
    return AuditFinding(f"{count_phrase(len(suspects), 'question')} {how}, of {n}.", n, suspects)


def _equal(
    questions: Sequence[Question], key: Callable[[Question], Hashable]
) -> Iterator[tuple[Question, Question]]:
    """Pair every question with the first one of the same key."""
    first: dict[Hashable, Question] = {}
    for one in questions:
        other = first.setdefault(key(one), one)
        if other is not one:
            yield other, one


def _nearly_equal(questions: Sequence[Question]) -> Iterator[tuple[Question, Question]]:
    """Pair questions with the same images, context and options, one of which has a few more words.

    Only questions with a common beginning or end are compared, each with some neighbours.
    """
    first = {duplicate_key(one): one for one in reversed(questions)}
    groups: dict[Hashable, list[tuple[list[str], Question]]] = defaultdict(list)
    for one in reversed(first.values()):
        words = question_words(one)
        if len(words) >= (_ENDS if one.images else _MIN_TEXT_WORDS):
            groups[*_options_key(one), one.context, "begins", *words[:_ENDS]].append((words, one))
            groups[*_options_key(one), one.context, "ends", *words[-_ENDS:]].append((words, one))
    found: set[tuple[str, str]] = set()
    for group in groups.values():
        for at, (words, one) in enumerate(group):
            for others, other in group[at + 1 : at + 1 + _NEIGHBOURS]:
                pair = one.question_id, other.question_id
                if pair not in found and _contains_words(words, others):
                    found.add(pair)
                    yield one, other


def _contains_words(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the longer text contains all words of the shorter one and no other number."""
    longer, shorter = sorted((one, other), key=len, reverse=True)
    if len(shorter) < _MIN_LENGTH_RATIO * len(longer):
        return False
    rest = iter(longer)
    added = Counter(longer) - Counter(shorter)
    return all(word in rest for word in shorter) and all(
        len(word) > 1 and word.isalpha() and word not in _MEANING_WORDS for word in added
    )


def duplicate_key(question: Question) -> Hashable:
    """Identity of a question: words, context, images in order, and options."""
    words = (word for word in question_words(question) if word not in ("a", "an", "the"))
    return (tuple(words), *_options_key(question))


def _options_key(question: Question) -> tuple[Hashable, ...]:
    options = frozenset(content_words(option) or option for option in question.options)
    return *_images_key(question), options


def _images_key(question: Question) -> tuple[Hashable, ...]:
    return question.images, question.image_texts, question.kind


def _contradicts(
    one: Question, other: Question, means: Callable[[str], Hashable] = content_words
) -> bool:
    """Whether two answer keys differ: in a part, or for texts and one letter, in all answers."""
    own_key, other_key = (list(map(means, right_texts(q))) for q in (one, other))
    if one.kind == "blanks":
        return own_key != other_key
    if one.kind == "choices":
        return set(own_key) != set(other_key)
    return set(own_key).isdisjoint(other_key)


def _describe_conflict(one: Question, other: Question) -> str:
    own_key, other_key = (" | ".join(right_texts(q)) for q in (one, other))
    return (
        f"{own_key!r:.80} is right, and {other_key!r:.80} of {other.question_id}, which asks the"
        " same"
    )


_MIN_WORD_OVERLAP = 0.5  # least share of their words that two questions have in common
_MAX_GROUP_SIZE = 40  # questions of the largest group compared; a larger one only shares a template
_ALPHA = 0.05  # share of benchmarks without redundant pairs that may be reported


class RedundantPair(NamedTuple):
    """Two redundant questions."""

    first: Question
    again: Question
    chance: float  # probability that models solve both alike by chance
    n_models: int


@audit_check("redundant_questions", "Do questions duplicate each other?")
def redundant_questions(evidence: Evidence) -> AuditFinding:
    """Find similar pairs that all models solve alike, beyond chance.

    Questions of one group, which are scored together, and exact duplicates are left out.
    """
    results = drop_unscored(evidence.results())
    if why := incomparable_reason(results):
        raise SkippedCheckError(why)
    if len(results.models) < MIN_FIT_MODELS:
        found = f"models with scores: {len(results.models)}"
        raise SkippedCheckError(f"{found}; {MIN_FIT_MODELS} are needed")
    pairs = list(similar_pairs(evidence.questions))
    if not pairs:
        raise SkippedCheckError("no similar questions, except copies and groups")
    suspects = [_suspect(one) for one in find_redundant(results, pairs)]
    sentence = (
        f"Of {len(pairs)} pairs of similar questions, {len(suspects)} are solved by the same of "
        f"{len(results.models)} models, beyond chance."
    )
    return AuditFinding(sentence, len(pairs), suspects)


def find_redundant(
    results: Results, pairs: Sequence[tuple[Question, Question]]
) -> list[RedundantPair]:
    """Similar pairs that models solve alike, beyond chance."""
    columns = {name: i for i, name in enumerate(results.questions)}
    same_pairs = [pair for pair in pairs if _same_points(results, columns, pair)]
    if not same_pairs:
        return []
    fit = fit_item_response(results.points)
    found = [_redundancy(results, fit, columns, pair) for pair in same_pairs]
    return [one for one in found if one.chance * len(pairs) < _ALPHA]


def redundant_ids(evidence: Evidence) -> list[tuple[str, str]]:
    """Pairs of ids of redundant questions; none with too few models."""
    results = drop_unscored(evidence.results())
    if incomparable_reason(results) or len(results.models) < MIN_FIT_MODELS:
        return []
    found = find_redundant(results, list(similar_pairs(evidence.questions)))
    return [(one.first.question_id, one.again.question_id) for one in found]


def similar_pairs(questions: Sequence[Question]) -> Iterator[tuple[Question, Question]]:
    """Pair similar questions: the same images or, without images, the same text up to numbers."""
    groups: dict[tuple[str, ...], list[Question]] = defaultdict(list)
    for question in questions:
        bare = re.sub(r"[\W\d_]+", " ", f"{question.context} {question.text}").casefold()
        groups[question.images or ("", bare)].append(question)
    for group in groups.values():
        if len(group) <= _MAX_GROUP_SIZE:
            yield from (pair for pair in combinations(group, 2) if _is_similar(*pair))


def _is_similar(one: Question, other: Question) -> bool:
    if one.group_id and one.group_id == other.group_id:
        return False
    if _question_content(one) == _question_content(other):
        return False
    words = _words(one), _words(other)
    either = words[0] | words[1]
    return bool(either) and len(words[0] & words[1]) / len(either) >= _MIN_WORD_OVERLAP


def _question_content(question: Question) -> tuple[object, ...]:
    return question.context, question.text, question.options, question.images


def _words(question: Question) -> set[str]:
    """Words of a question; each Chinese character is a word."""
    text = " ".join((question.context, question.text, *question.options)).casefold()
    return set(re.findall(r"[㐀-鿿]|[^\W㐀-鿿]+", text))


def _same_points(
    results: Results, columns: Mapping[str, int], pair: tuple[Question, Question]
) -> bool:
    """Whether each model has the same points on both questions, and not all models the same."""
    if any(question.question_id not in columns for question in pair):
        return False
    one, other = (results.points[:, columns[question.question_id]] for question in pair)
    both = ~np.isnan(one) & ~np.isnan(other)
    if both.sum() < MIN_FIT_MODELS or np.ptp(one[both]) == 0:
        return False
    return np.allclose(one[both], other[both])


def _redundancy(
    results: Results,
    fit: ItemResponseFit,
    columns: Mapping[str, int],
    pair: tuple[Question, Question],
) -> RedundantPair:
    one, other = (columns[question.question_id] for question in pair)
    points = results.points[:, one], results.points[:, other]
    both = ~np.isnan(points[0]) & ~np.isnan(points[1])
    chance = max(_chance(points[0][both], fit, j, both) for j in (one, other))
    return RedundantPair(*pair, chance, int(both.sum()))


def _suspect(one: RedundantPair) -> Suspect:
    sentence = (
        f"Looks like {one.first.question_id}, and all of {one.n_models} models have the same "
        f"points on both: by chance with a probability of {one.chance:.1g}."
    )
    return Suspect(one.again.question_id, sentence, round(-float(np.log10(one.chance)), 3))


def _chance(points: Floats, fit: ItemResponseFit, question: int, models: np.ndarray) -> float:
    """Probability that models get these points on a question of the same difficulty."""
    logits = fit.slope[question] * fit.ability[models] + fit.ease[question]
    logs = points * -np.logaddexp(0, -logits) + (1 - points) * -np.logaddexp(0, logits)
    return float(np.exp(logs.sum()))
