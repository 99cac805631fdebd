"""Duplicate questions, and contradictory duplicates."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import AuditFinding, Suspect, audit_check
from bench_assets.audit.framework.text_normalization import (
    count_phrase,
    option_words,
    question_words,
    right_texts,
)
from bench_assets.audit.items.ambiguous_options import canonical_option, paraphrase_key
from bench_assets.core.schema.rows import Question

_MIN_LENGTH_RATIO = 0.8  # length of the shorter of two texts, at least, as a share of the longer
_EDGE_WORDS = 4  # words that two texts share at their beginning or end
_MIN_TEXT_WORDS = 10  # words of a text without images; shorter ones repeat by accident
_NEIGHBOURS = 30  # questions with a common beginning or end that each is compared with

_MEANING_WORDS = frozenset(
    ["not", "no", "never", "without", "except", "least", "most", "first", "last"]
)
"""Words that change the meaning of a question."""


@audit_check("repeated_questions", "Are any questions asked twice?")
def repeated_questions(evidence: Evidence) -> AuditFinding:
    """Find questions with the same images, options and key, and the same or a few more words."""
    questions = evidence.questions
    suspects = [
        Suspect(later.question_id, f"asks what {earlier.question_id} asks: {later.text!r:.120}")
        for earlier, later in [*_equal(questions, duplicate_key), *_nearly_equal(questions)]
        if not _contradicts(later, earlier)
    ]
    return _finding(suspects, len(questions), "asked twice")


@audit_check("contradicting_keys", "Do any duplicates have different keys?")
def contradicting_keys(evidence: Evidence) -> AuditFinding:
    """Find questions and their paraphrases with the same images and options but another key."""
    questions = evidence.questions
    pairs = {
        (earlier.question_id, later.question_id): (earlier, later)
        for earlier, later in [
            *_equal(questions, duplicate_key),
            *_equal(questions, paraphrase_key),
        ]
    }
    # Keys that agree as words or as quantities ("0.5 m", "50 cm") are no contradiction.
    suspects = [
        Suspect(later.question_id, _describe_conflict(later, earlier))
        for earlier, later in pairs.values()
        if _contradicts(later, earlier) and _contradicts(later, earlier, canonical_option)
    ]
    return _finding(suspects, len(questions), "answered in two ways")


def _finding(suspects: Sequence[Suspect], n: int, fault: str) -> AuditFinding:
    """Report suspect questions; one that repeats several earlier ones is one suspect."""
    evidence: dict[str, list[str]] = defaultdict(list)
    for suspect in suspects:
        evidence[suspect.about].append(suspect.evidence)
    merged = [Suspect(about, "; ".join(sentences)) for about, sentences in evidence.items()]
    sentence = f"{count_phrase(len(merged), 'question')} {fault}, of {n}."
    return AuditFinding(sentence=sentence, n=n, suspects=merged)


def _equal(
    questions: Sequence[Question], key: Callable[[Question], Hashable]
) -> Iterator[tuple[Question, Question]]:
    """Pair the first question of each key with every later one."""
    first: dict[Hashable, Question] = {}
    for question in questions:
        earlier = first.setdefault(key(question), question)
        if earlier is not question:
            yield earlier, question


def _nearly_equal(questions: Sequence[Question]) -> Iterator[tuple[Question, Question]]:
    """Pair questions with the same images, context and options, one of which has a few more words.

    Only questions with a common beginning or end are compared, each with some neighbours; of equal
    questions only the first, and no short ones.
    """
    first_of_key: dict[Hashable, Question] = {}
    for question in questions:
        first_of_key.setdefault(duplicate_key(question), question)
    groups: dict[Hashable, list[tuple[list[str], Question]]] = defaultdict(list)
    for question in first_of_key.values():
        words = question_words(question)
        if len(words) < (_EDGE_WORDS if question.images else _MIN_TEXT_WORDS):
            continue
        common_key = (_key_besides_words(question), question.context)
        groups[common_key, "beginning", *words[:_EDGE_WORDS]].append((words, question))
        groups[common_key, "end", *words[-_EDGE_WORDS:]].append((words, question))
    pairs: set[tuple[str, str]] = set()
    for group in groups.values():
        for index, (earlier_words, earlier) in enumerate(group):
            for later_words, later in group[index + 1 : index + 1 + _NEIGHBOURS]:
                pair = earlier.question_id, later.question_id
                if pair not in pairs and _is_extension(earlier_words, later_words):
                    pairs.add(pair)
                    yield earlier, later


def _is_extension(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether one text is the other with a few more words that do not change its meaning."""
    longer, shorter = sorted((first, second), key=len, reverse=True)
    if len(shorter) < _MIN_LENGTH_RATIO * len(longer):
        return False
    remaining = iter(longer)
    is_in_order = all(word in remaining for word in shorter)  # each search continues after the last
    added = Counter(longer) - Counter(shorter)
    return is_in_order and all(
        len(word) > 1 and word.isalpha() and word not in _MEANING_WORDS for word in added
    )


def duplicate_key(question: Question) -> Hashable:
    """Identity of a question: words, context, images in order, and options."""
    words = (word for word in question_words(question) if word not in ("a", "an", "the"))
    return (tuple(words), *_key_besides_words(question))


def _key_besides_words(question: Question) -> tuple[Hashable, ...]:
    """Images, their texts, kind, and options in any order."""
    options = frozenset(map(option_words, question.options))
    return question.images, question.image_texts, question.kind, options


def _contradicts(
    later: Question, earlier: Question, normalize: Callable[[str], Hashable] = option_words
) -> bool:
    """Whether keys contradict: blanks and sets of letters differ, others have none in common."""
    later_key = [normalize(text) for text in right_texts(later)]
    earlier_key = [normalize(text) for text in right_texts(earlier)]
    if later.kind == "blanks":
        return later_key != earlier_key
    if later.kind == "choices":
        return set(later_key) != set(earlier_key)
    return set(later_key).isdisjoint(earlier_key)


def _describe_conflict(later: Question, earlier: Question) -> str:
    later_key = " | ".join(right_texts(later))
    earlier_key = " | ".join(right_texts(earlier))
    return (
        f"{later_key!r:.80} is right, and {earlier_key!r:.80} of {earlier.question_id}, which asks"
        " the same"
    )
