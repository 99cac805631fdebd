"""Cues in the options: their places, lengths, numbers and wording, and the order of the rows."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from zlib import crc32

import numpy as np

from bench_assets.audit.framework.evidence import Evidence, Floats
from bench_assets.audit.framework.findings import AuditFinding, SkippedCheckError, audit_check
from bench_assets.audit.framework.text_normalization import contains, content_words, question_words
from bench_assets.audit.shortcuts.key_guesser import (
    MIN_QUESTIONS,
    Cue,
    Features,
    Guessable,
    Rows,
    guess_finding,
    guess_keys,
)
from bench_assets.core.schema.rows import Question

_USUAL_SHARE = 0.5  # of one answer, among questions without options
_MIN_WORDED = 40  # fewest questions to learn a wording from
_MAX_GROUPS = 16  # the largest ones
_MIN_GROUP = 5  # fewest questions of a group that is learned apart
_WORDS = 96  # hash buckets for the words of options
_NUMBER = re.compile(  # a comma before three digits separates thousands, unless 0 precedes it
    r"[-−]?(?:(?P<thousands>[1-9]\d{0,2}(?:,\d{3})+(?!,?\d)(?:\.\d+)?)|\d+(?:[.,]\d+)?)"
)
_NEGATIONS = frozenset(
    ["no", "not", "none", "never", "nothing", "neither", "nor", "cannot", "不", "没", "无", "非"]
)
_ABSOLUTE_WORDS = frozenset(
    ["all", "always", "only", "every", "must", "completely", "都", "只", "必", "总", "全"]
)


@audit_check("one_answer", "Is one letter, or one answer, right too often?")
def constant_answer_finding(evidence: Evidence) -> AuditFinding:
    """Guess one letter, or one text, for all questions."""
    lettered = [question for question in evidence.questions if question.kind == "choice"]
    exams = [
        Guessable.with_options(lettered),
        *(
            Guessable.with_frequent_answers(evidence.questions, kind, _USUAL_SHARE)
            for kind in ("text", "blanks", "choices")
        ),
    ]
    guesses = [
        guess
        for exam in exams
        if len(exam.questions) >= MIN_QUESTIONS
        for guess in guess_keys(exam, [_place_cue(exam)], beats_place=False)
    ]
    if not guesses:
        raise SkippedCheckError(f"fewer than {MIN_QUESTIONS} questions have answers of one kind")
    return guess_finding(guesses, "the same answer everywhere")


@audit_check("lengths", "Is the longest or the shortest option right too often?")
def length_finding(evidence: Evidence) -> AuditFinding:
    """Guess by the lengths of the options."""
    exam = _require_options(evidence)
    return guess_finding(guess_keys(exam, [_length_cue(exam)]), "a look at the options")


@audit_check("numbers", "Is the largest, smallest or middle number right too often?")
def number_finding(evidence: Evidence) -> AuditFinding:
    """Guess the largest, smallest and middle number, if all options are numbers."""
    exam = _require_options(evidence)
    exam = exam.of([n for n, of in enumerate(exam.options) if len(set(_numbers(of))) > 1])
    if len(exam.questions) < MIN_QUESTIONS:
        raise SkippedCheckError(f"{len(exam.questions)} questions have numbers for options")
    return guess_finding(guess_keys(exam, [_number_cue(exam)]), "a look at the options")


@audit_check("row_order", "Does the order of the rows reveal the key?")
def row_order_finding(evidence: Evidence) -> AuditFinding:
    """Guess by patterns of the row order: every second A, B after A.

    The same patterns of rows that are shuffled within their category are the chance level: where
    keys are balanced, the key of the row before is less likely than others.
    """
    lettered = [question for question in evidence.questions if question.kind == "choice"]
    exam = Guessable.with_options(lettered)
    if len(exam.questions) < MIN_QUESTIONS:
        raise SkippedCheckError(f"{len(exam.questions)} questions with letters")
    rows = range(len(exam.questions))
    digests = [sha256(question.question_id.encode()).digest() for question in exam.questions]
    categories = [question.category for question in exam.questions]
    by_category = sorted(rows, key=lambda row: categories[row])
    shuffled = sorted(rows, key=lambda row: (categories[row], digests[row]))
    order = dict(zip(by_category, shuffled, strict=True))
    guesses = guess_keys(
        exam,
        group_cues(_row_groups(exam, rows), places(exam)),
        group_cues(_row_groups(exam, [order[row] for row in rows]), places(exam)),
        by_category=False,
    )
    return guess_finding(guesses, "the order of the rows")


@audit_check("surface", "Does the wording of options reveal the right one?")
def surface_finding(evidence: Evidence) -> AuditFinding:
    """Guess by the wording of options, beyond all simpler guesses."""
    exam = Guessable.with_options(evidence.questions)
    if len(exam.questions) < _MIN_WORDED:
        raise SkippedCheckError(
            f"{len(exam.questions)} questions with options; {_MIN_WORDED} are needed"
        )
    simpler = [_length_cue(exam), _number_cue(exam), _mention_cue(exam)]
    cue = Cue("a classifier of words", _wording(exam))
    guesses = guess_keys(exam, [cue], simpler, by_category=False)
    return guess_finding(guesses, "the wording of the options", with_questions=True)


def group_cues(
    groups: Mapping[str, Sequence[Hashable]], options: Callable[[Rows], Features]
) -> list[Cue]:
    """Cues of groups of questions in which other options are right than elsewhere.

    Args:
        groups: Name of a cue -> group of each question; small ones are taken together.
        options: Features of the options that are learned in each group.
    """
    cues = []
    for name, of in groups.items():
        counts = Counter(of).most_common(_MAX_GROUPS)
        codes = {group: code for code, (group, n) in enumerate(counts, 1) if n >= _MIN_GROUP}
        numbers = np.array([codes.get(group, 0) for group in of], dtype=np.intp)
        if len(set(of)) > 1:
            cues.append(Cue(name, options, groups=numbers))
    return cues


def places(exam: Guessable) -> Callable[[Rows], Features]:
    """One-hot place of each option; 0 if it is not shown."""
    eye = np.eye(exam.is_offered.shape[1], dtype=np.float32)
    return lambda rows: np.where(exam.is_ordered[rows][:, None, None], eye, np.float32(0))


def extremes(values: Floats) -> Features:
    """Whether an option has the largest value, and the smallest one; ties share it.

    Args:
        values: (questions, options); NaN if there is none.
    """
    return np.stack([_largest(values), _largest(-values)], axis=2)


def _row_groups(exam: Guessable, order: Sequence[int]) -> dict[str, Sequence[Hashable]]:
    """Groups of questions by their place in an order, and by the keys before them."""
    keys = exam.keys[list(order)].tolist()
    groups: dict[str, Sequence[Hashable]] = {
        f"the row's number modulo {k}": [n % k for n in range(len(keys))] for k in (2, 3, 4, 5)
    }
    groups["the key of the row before"] = [-1, *keys[:-1]]
    groups["the keys of the two rows before"] = [None, None, *pairwise(keys)][: len(keys)]
    at = sorted(range(len(keys)), key=order.__getitem__)
    return {name: [of[n] for n in at] for name, of in groups.items()}


def _require_options(evidence: Evidence) -> Guessable:
    exam = Guessable.with_options(evidence.questions)
    if len(exam.questions) < MIN_QUESTIONS:
        raise SkippedCheckError(f"{len(exam.questions)} questions with options")
    return exam


def _place_cue(exam: Guessable) -> Cue:
    most = exam.is_offered.shape[1]
    names = exam.options[0] if exam.about else [chr(ord("A") + n) for n in range(most)]
    quote = '"' if exam.about else ""
    return Cue("", places(exam), [f"always {quote}{name}{quote}" for name in names])


def _length_cue(exam: Guessable) -> Cue:
    lengths = _values(exam, lambda options: [len(option.strip()) for option in options])
    words = _values(exam, lambda options: [len(content_words(option)) for option in options])
    features = np.concatenate([extremes(lengths), extremes(words)], axis=2)
    names = ["longest option", "shortest option", "option with most words"]
    guesses = [f"the {name}" for name in (*names, "option with fewest words")]
    return Cue("", features.__getitem__, guesses)


def _number_cue(exam: Guessable) -> Cue:
    numbers = _values(exam, _numbers)
    has_numbers = ~np.isnan(numbers).all(axis=1)
    middle = np.full(len(numbers), np.nan)
    middle[has_numbers] = np.nanmedian(numbers[has_numbers], axis=1)
    central = _largest(-np.abs(numbers - middle[:, None]))
    features = np.concatenate([extremes(numbers), central[:, :, None]], axis=2)
    guesses = ["the largest number", "the smallest number", "the number in the middle"]
    return Cue("", features.__getitem__, guesses)


def _mention_cue(exam: Guessable) -> Cue:
    words = [question_words(question) for question in exam.questions]
    mentioned = np.zeros((*exam.is_offered.shape, 1), np.float32)
    for row, options in enumerate(exam.options):
        for position, option in enumerate(options):
            mentioned[row, position] = contains(words[row], content_words(option))
    return Cue("", mentioned.__getitem__)


def _values(exam: Guessable, measure: Callable[[Sequence[str]], Sequence[float]]) -> Floats:
    """A number of each option: (questions, options); NaN if there is none."""
    values = np.full(exam.is_offered.shape, np.nan)
    for row, options in enumerate(exam.options):
        measured = measure(options)
        values[row, : len(measured)] = measured
    return values


def _largest(values: Floats) -> Features:
    known = np.where(np.isnan(values), -np.inf, values)
    best = known.max(axis=1, keepdims=True)
    is_best = ((known == best) & (best > -np.inf)).astype(np.float32)
    shares: Features = is_best / np.maximum(1, is_best.sum(axis=1, keepdims=True))
    return shares


def _numbers(options: Sequence[str]) -> list[float]:
    """The options as numbers; empty unless each has exactly one."""
    matches = [list(_NUMBER.finditer(option)) for option in options]
    if any(len(of) != 1 for of in matches):
        return []
    return [
        float(match[0].replace("−", "-").replace(",", "" if match["thousands"] else "."))
        for (match,) in matches
    ]


def _wording(exam: Guessable) -> Callable[[Rows], Features]:
    """Features of each option: words and rank among the options, minus their mean."""
    offered = Counter(content_words(option) for options in exam.options for option in options)

    def features(rows: Rows) -> Features:
        features = np.zeros((len(rows), exam.is_offered.shape[1], _WORDS + 8), np.float32)
        for number, row in enumerate(rows):
            of_question = _worded_options(exam.questions[row], offered)
            features[number, : len(of_question)] = of_question - of_question.mean(axis=0)
        return features

    return features


def _worded_options(question: Question, offered: Counter[tuple[str, ...]]) -> Features:
    texts = [content_words(option) for option in question.options]
    in_question = set(question_words(question))
    rows = np.zeros((len(texts), _WORDS + 8), np.float32)
    for n, (text, option) in enumerate(zip(texts, question.options, strict=True)):
        own_words = set(text)
        for word in own_words:
            rows[n, crc32(word.encode()) % _WORDS] += 1
        other_words = [set(text) for at, text in enumerate(texts) if at != n]
        rows[n, _WORDS:] = (
            len(own_words & in_question) / max(1, len(own_words)),
            sum(len(own_words & words) / max(1, len(own_words | words)) for words in other_words)
            / len(other_words),
            bool(own_words & _NEGATIONS),
            bool(own_words & _ABSOLUTE_WORDS),
            option.strip()[-1:] in ".!?。",
            option.strip()[:1].isupper(),
            any(letter.isdigit() for letter in option),
            np.log1p(offered[text]),
        )
    return rows
