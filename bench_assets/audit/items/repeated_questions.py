"""Whether a question is asked twice, and whether it is answered in two ways."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import AuditFinding, Suspect
from bench_assets.audit.framework.text_normalization import are, asked_words, right_texts, said
from bench_assets.core.schema.rows import Question

_ALIKE = 0.8  # of the longer of two texts: what the shorter one says at least
_ENDS = 4  # words that two texts have in common at one end
_LONG = 10  # words of a text without images that nobody writes twice by accident
_NEIGHBOURS = 30  # questions that begin alike and are compared with one another

_TURNS = frozenset(["not", "no", "never", "without", "except", "least", "most", "first", "last"])
"""Words that make another question of one."""


def repeated_questions(evidence: Evidence) -> AuditFinding:
    """Look for questions with the same images, words and options, and the same key."""
    questions = evidence.questions
    suspects = [
        Suspect(one.question_id, f"asks what {other.question_id} asks: {one.text!r:.120}")
        for other, one in [*_equal(questions), *_nearly_equal(questions)]
        if not _contradicts(one, other)
    ]
    return _told(suspects, len(questions), "asked twice")


def contradicting_keys(evidence: Evidence) -> AuditFinding:
    """Look for questions with the same images and words of which another answer is right."""
    questions = evidence.questions
    suspects = [
        Suspect(one.question_id, _against(one, other))
        for other, one in _equal(questions)  # of others the small difference may be the point
        if _contradicts(one, other)
    ]
    return _told(suspects, len(questions), "answered in two ways")


def questions_elsewhere(evidence: Evidence) -> AuditFinding:
    """Look for questions of other suites with the same words and the same images."""
    others = {
        task: questions
        for task, questions in evidence.elsewhere.items()
        if task.split("/")[0] != evidence.task.suite
    }
    if not any(others.values()):
        return AuditFinding.not_looked_at("there are no questions of other suites")
    shown = {_shown(one) for one in evidence.questions}  # words are compared only of what shows it
    there = {
        same_when(one): f"{task}, {one.question_id}"
        for task, questions in others.items()
        for one in questions
        if _shown(one) in shown
    }
    suspects = [
        Suspect(one.question_id, f"is also asked by {there[asked]}")
        for one in evidence.questions
        for asked in [same_when(one)]
        if asked in there and (one.images or len(asked_words(one)) >= _LONG)
    ]
    return _told(suspects, len(evidence.questions), "asked by another suite too")


def _told(suspects: Sequence[Suspect], n: int, how: str) -> AuditFinding:
    return AuditFinding(
        not suspects, f"{are(len(suspects), 'question')} {how}, of {n}.", n, suspects
    )


def _equal(questions: Sequence[Question]) -> Iterator[tuple[Question, Question]]:
    """Every question with the first one that asks the same."""
    first: dict[Hashable, Question] = {}
    for one in questions:
        other = first.setdefault(same_when(one), one)
        if other is not one:
            yield other, one


def _nearly_equal(questions: Sequence[Question]) -> Iterator[tuple[Question, Question]]:
    """Questions of the same images, context and options of which one has a few words more.

    They begin or end alike: only those are compared, each with some of its neighbours.
    """
    first = {same_when(one): one for one in reversed(questions)}
    alike: dict[Hashable, list[tuple[list[str], Question]]] = defaultdict(list)
    for one in reversed(first.values()):
        said = asked_words(one)
        if len(said) >= (_ENDS if one.images else _LONG):
            alike[*_offered(one), one.context, "begins", *said[:_ENDS]].append((said, one))
            alike[*_offered(one), one.context, "ends", *said[-_ENDS:]].append((said, one))
    found: set[tuple[str, str]] = set()
    for some in alike.values():
        for at, (said, one) in enumerate(some):
            for others, other in some[at + 1 : at + 1 + _NEIGHBOURS]:
                pair = one.question_id, other.question_id
                if pair not in found and _says_all_of(said, others):
                    found.add(pair)
                    yield one, other


def _says_all_of(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the longer text says all that the shorter one does, and adds no figure."""
    longer, shorter = sorted((one, other), key=len, reverse=True)
    if len(shorter) < _ALIKE * len(longer):
        return False
    rest = iter(longer)
    added = Counter(longer) - Counter(shorter)
    return all(word in rest for word in shorter) and all(
        len(word) > 1 and word.isalpha() and word not in _TURNS for word in added
    )


def same_when(question: Question) -> Hashable:
    """What makes a question the same: words, context, images in their order, and options."""
    said = (word for word in asked_words(question) if word not in ("a", "an", "the"))
    return (tuple(said), *_offered(question))


def _offered(question: Question) -> tuple[Hashable, ...]:
    options = frozenset(said(option) or option for option in question.options)
    return *_shown(question), options


def _shown(question: Question) -> tuple[Hashable, ...]:
    return question.images, question.image_texts, question.kind


def _contradicts(one: Question, other: Question) -> bool:
    """Whether nothing that is right of one is right of the other."""
    mine, theirs = ({said(text) for text in right_texts(q)} for q in (one, other))
    if one.kind in ("choices", "blanks"):
        return mine != theirs
    return mine.isdisjoint(theirs)


def _against(one: Question, other: Question) -> str:
    mine, theirs = (" | ".join(right_texts(q)) for q in (one, other))
    return f"{mine!r:.80} is right, and {theirs!r:.80} of {other.question_id}, which asks the same"
