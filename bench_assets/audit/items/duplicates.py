"""Duplicate questions, and contradictory duplicates."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import AuditFinding, Suspect, audit_check
from bench_assets.audit.framework.text_normalization import (
    content_words,
    count_phrase,
    question_words,
    right_texts,
)
from bench_assets.audit.items.ambiguous_options import canonical_option, paraphrase_key
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
