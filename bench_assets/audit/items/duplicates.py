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
        Suspect(later.question_id, f"asks what {earlier.question_id} asks: {later.text!r:.120}")
        for earlier, later in [*_equal(questions, duplicate_key), *_nearly_equal(questions)]
        if not _contradicts(later, earlier)
    ]
    return _finding(suspects, len(questions), "asked twice")


@audit_check("contradicting_keys", "Do any duplicates have different keys?")
def contradicting_keys(evidence: Evidence) -> AuditFinding:
    """Find questions with the same images and words but another key."""
    questions = evidence.questions
    pairs = {
        (earlier.question_id, later.question_id): (earlier, later)
        for earlier, later in [
            *_equal(questions, duplicate_key),
            *_equal(questions, paraphrase_key),
        ]
    }
    suspects = [
        Suspect(reason.question_id, _describe_conflict(reason, pair))
        for pair, reason in pairs.values()
        if _contradicts(reason, pair) and _contradicts(reason, pair, canonical_option)
    ]
    return _finding(suspects, len(questions), "answered in two ways")


@audit_check("questions_elsewhere", "Are any questions also in another suite?")
def questions_elsewhere(evidence: Evidence) -> AuditFinding:
    """Find questions of other suites with the same words and images."""
    other_suites = {
        task: questions
        for task, questions in evidence.elsewhere.items()
        if task.split("/")[0] != evidence.task.suite
    }
    if not any(other_suites.values()):
        raise SkippedCheckError("there are no questions of other suites")
    image_keys = {
        _images_key(question) for question in evidence.questions
    }  # words are compared only for equal images
    locations = {
        duplicate_key(question): f"{task}, {question.question_id}"
        for task, questions in other_suites.items()
        for question in questions
        if _images_key(question) in image_keys
    }
    suspects = [
        Suspect(question.question_id, f"is also asked by {locations[key]}")
        for question in evidence.questions
        for key in [duplicate_key(question)]
        if key in locations
        and (question.images or len(question_words(question)) >= _MIN_TEXT_WORDS)
    ]
    return _finding(suspects, len(evidence.questions), "asked by another suite too")


def _finding(suspects: Sequence[Suspect], n: int, how: str) -> AuditFinding:
    return AuditFinding(f"{count_phrase(len(suspects), 'question')} {how}, of {n}.", n, suspects)


def _equal(
    questions: Sequence[Question], key: Callable[[Question], Hashable]
) -> Iterator[tuple[Question, Question]]:
    """Pair every question with the first one of the same key."""
    first: dict[Hashable, Question] = {}
    for question in questions:
        earlier = first.setdefault(key(question), question)
        if earlier is not question:
            yield earlier, question


def _nearly_equal(questions: Sequence[Question]) -> Iterator[tuple[Question, Question]]:
    """Pair questions with the same images, context and options, one of which has a few more words.

    Only questions with a common beginning or end are compared, each with some neighbours.
    """
    first = {duplicate_key(question): question for question in reversed(questions)}
    groups: dict[Hashable, list[tuple[list[str], Question]]] = defaultdict(list)
    for earlier_question in reversed(first.values()):
        words = question_words(earlier_question)
        if len(words) >= (_ENDS if earlier_question.images else _MIN_TEXT_WORDS):
            groups[
                *_options_key(earlier_question), earlier_question.context, "begins", *words[:_ENDS]
            ].append((words, earlier_question))
            groups[
                *_options_key(earlier_question), earlier_question.context, "ends", *words[-_ENDS:]
            ].append((words, earlier_question))
    pairs: set[tuple[str, str]] = set()
    for group in groups.values():
        for at, (words, earlier_question) in enumerate(group):
            for other_words, other_question in group[at + 1 : at + 1 + _NEIGHBOURS]:
                pair = earlier_question.question_id, other_question.question_id
                if pair not in pairs and _contains_words(words, other_words):
                    pairs.add(pair)
                    yield earlier_question, other_question


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
    if incomparable := incomparable_reason(results):
        raise SkippedCheckError(incomparable)
    if len(results.models) < MIN_FIT_MODELS:
        summary = f"models with scores: {len(results.models)}"
        raise SkippedCheckError(f"{summary}; {MIN_FIT_MODELS} are needed")
    pairs = list(similar_pairs(evidence.questions))
    if not pairs:
        raise SkippedCheckError("no similar questions, except copies and groups")
    suspects = [_suspect(redundancy) for redundancy in find_redundant(results, pairs)]
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
    redundancies = [_redundancy(results, fit, columns, pair) for pair in same_pairs]
    return [redundancy for redundancy in redundancies if redundancy.chance * len(pairs) < _ALPHA]


def redundant_ids(evidence: Evidence) -> list[tuple[str, str]]:
    """Pairs of ids of redundant questions; none with too few models."""
    results = drop_unscored(evidence.results())
    if incomparable_reason(results) or len(results.models) < MIN_FIT_MODELS:
        return []
    redundancies = find_redundant(results, list(similar_pairs(evidence.questions)))
    return [
        (redundancy.first.question_id, redundancy.again.question_id) for redundancy in redundancies
    ]


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
    first_points, second_points = (
        results.points[:, columns[question.question_id]] for question in pair
    )
    both_scored = ~np.isnan(first_points) & ~np.isnan(second_points)
    if both_scored.sum() < MIN_FIT_MODELS or np.ptp(first_points[both_scored]) == 0:
        return False
    return np.allclose(first_points[both_scored], second_points[both_scored])


def _redundancy(
    results: Results,
    fit: ItemResponseFit,
    columns: Mapping[str, int],
    pair: tuple[Question, Question],
) -> RedundantPair:
    first_column, second_column = (columns[question.question_id] for question in pair)
    points = results.points[:, first_column], results.points[:, second_column]
    both_scored = ~np.isnan(points[0]) & ~np.isnan(points[1])
    chance = max(
        _chance(points[0][both_scored], fit, j, both_scored) for j in (first_column, second_column)
    )
    return RedundantPair(*pair, chance, int(both_scored.sum()))


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
