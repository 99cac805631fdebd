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
    Exam,
    Features,
    Rows,
    guess_finding,
    guess_keys,
)
from bench_assets.core.schema.rows import Question

_USUAL_SHARE = 0.5  # share of one answer, among questions without options
_MIN_WORDED = 40  # questions from which a wording is learned, at least
_MAX_GROUPS = 16  # groups that are learned apart, the largest ones
_MIN_GROUP = 5  # questions of a group that is learned apart, at least
_WORD_BUCKETS = 96  # hash buckets for the words of options
_N_WORDING_FEATURES = _WORD_BUCKETS + 8
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
    """Guess one letter, or one frequent answer, for all questions of a kind."""
    lettered = [question for question in evidence.questions if question.kind == "choice"]
    exams = [
        Exam.with_options(lettered),
        *(
            Exam.with_frequent_answers(evidence.questions, kind, _USUAL_SHARE)
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
    exam = Exam.with_options(evidence.questions)
    _require_questions(exam, "options")
    return guess_finding(guess_keys(exam, [_length_cue(exam)]), "a look at the options")


@audit_check("numbers", "Is the largest, smallest or middle number right too often?")
def number_finding(evidence: Evidence) -> AuditFinding:
    """Guess the largest, smallest and middle number, if each option has one."""
    exam = Exam.with_options(evidence.questions)
    rows = [row for row, options in enumerate(exam.options) if len(set(_numbers(options))) > 1]
    exam = exam.select(rows)
    _require_questions(exam, "numbers")
    return guess_finding(guess_keys(exam, [_number_cue(exam)]), "a look at the options")


@audit_check("row_order", "Does the order of the rows reveal the key?")
def row_order_finding(evidence: Evidence) -> AuditFinding:
    """Guess by patterns of the row order: every second A, B after A.

    The same patterns of rows that are shuffled within their category are the chance level: where
    keys are balanced, the key of the row before is less likely than others.
    """
    lettered = [question for question in evidence.questions if question.kind == "choice"]
    exam = Exam.with_options(lettered)
    _require_questions(exam, "letters")
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
    exam = Exam.with_options(evidence.questions)
    _require_questions(exam, "options", _MIN_WORDED)
    simpler = [_length_cue(exam), _number_cue(exam), _mention_cue(exam)]
    cue = Cue(name="a classifier of words", features=_wording_features(exam))
    guesses = guess_keys(exam, [cue], simpler, by_category=False)
    return guess_finding(guesses, "the wording of the options", with_questions=True)


def group_cues(
    groups: Mapping[str, Sequence[Hashable]], features: Callable[[Rows], Features]
) -> list[Cue]:
    """Build cues that are learned in each group of questions apart; one group makes no cue.

    Args:
        groups: Group of each question, by name of a cue; small groups are taken together.
        features: Features of the options.
    """
    cues = []
    for name, group_of_row in groups.items():
        counts = Counter(group_of_row).most_common(_MAX_GROUPS)
        codes = {group: code for code, (group, n) in enumerate(counts, 1) if n >= _MIN_GROUP}
        row_codes = np.array([codes.get(group, 0) for group in group_of_row], dtype=np.intp)
        if len(set(group_of_row)) > 1:
            cues.append(Cue(name=name, features=features, groups=row_codes))
    return cues


def places(exam: Exam) -> Callable[[Rows], Features]:
    """One-hot place of each option; 0 where places mean nothing."""
    one_hot = np.eye(exam.is_offered.shape[1], dtype=np.float32)
    return lambda rows: np.where(exam.is_ordered[rows][:, None, None], one_hot, np.float32(0))


def extremes(values: Floats) -> Features:
    """Features for the largest and for the smallest value, as by ``_largest``.

    ``values`` are (questions, options); NaN if there is none.
    """
    return np.stack([_largest(values), _largest(-values)], axis=2)


def _row_groups(exam: Exam, order: Sequence[int]) -> dict[str, Sequence[Hashable]]:
    """Groups of questions by their place in an order, and by the keys before them."""
    keys = exam.keys[list(order)].tolist()
    groups: dict[str, Sequence[Hashable]] = {
        f"the row's number modulo {k}": [n % k for n in range(len(keys))] for k in (2, 3, 4, 5)
    }
    groups["the key of the row before"] = [-1, *keys[:-1]]
    groups["the keys of the two rows before"] = [None, None, *pairwise(keys)][: len(keys)]
    place_of_row = sorted(range(len(keys)), key=order.__getitem__)  # the inverse of the order
    return {name: [by_place[n] for n in place_of_row] for name, by_place in groups.items()}


def _require_questions(exam: Exam, feature: str, n_needed: int = MIN_QUESTIONS) -> None:
    """Skip the check if an exam has too few questions."""
    n = len(exam.questions)
    if n < n_needed:
        raise SkippedCheckError(f"questions with {feature}: {n}; {n_needed} are needed")


def _place_cue(exam: Exam) -> Cue:
    if exam.n_answers:
        guesses = [f'always "{answer}"' for answer in exam.options[0]]
    else:
        guesses = [f"always {chr(ord('A') + n)}" for n in range(exam.is_offered.shape[1])]
    return Cue(name="", features=places(exam), guesses=guesses)


def _length_cue(exam: Exam) -> Cue:
    lengths = _values(exam, lambda options: [len(option.strip()) for option in options])
    words = _values(exam, lambda options: [len(content_words(option)) for option in options])
    features = np.concatenate([extremes(lengths), extremes(words)], axis=2)
    guesses = ["the longest option", "the shortest option"]
    guesses += ["the option with most words", "the option with fewest words"]
    return Cue(name="", features=features.__getitem__, guesses=guesses)


def _number_cue(exam: Exam) -> Cue:
    numbers = _values(exam, _numbers)
    has_numbers = ~np.isnan(numbers).all(axis=1)
    middle = np.full(len(numbers), np.nan)
    middle[has_numbers] = np.nanmedian(numbers[has_numbers], axis=1)
    central = _largest(-np.abs(numbers - middle[:, None]))
    features = np.concatenate([extremes(numbers), central[:, :, None]], axis=2)
    guesses = ["the largest number", "the smallest number", "the number in the middle"]
    return Cue(name="", features=features.__getitem__, guesses=guesses)


def _mention_cue(exam: Exam) -> Cue:
    words = [question_words(question) for question in exam.questions]
    mentioned = np.zeros((*exam.is_offered.shape, 1), np.float32)
    for row, options in enumerate(exam.options):
        for position, option in enumerate(options):
            mentioned[row, position] = contains(words[row], content_words(option))
    return Cue(name="", features=mentioned.__getitem__)


def _values(exam: Exam, measure: Callable[[Sequence[str]], Sequence[float]]) -> Floats:
    """Measure the options of each question: (questions, options); NaN if there is no value."""
    values = np.full(exam.is_offered.shape, np.nan)
    for row, options in enumerate(exam.options):
        measured = measure(options)
        values[row, : len(measured)] = measured
    return values


def _largest(values: Floats) -> Features:
    """1 for the option with the largest value of its question, else 0; a tie shares it."""
    comparable = np.where(np.isnan(values), -np.inf, values)
    best = comparable.max(axis=1, keepdims=True)
    is_best = ((comparable == best) & (best > -np.inf)).astype(np.float32)
    shares: Features = is_best / np.maximum(1, is_best.sum(axis=1, keepdims=True))
    return shares


def _numbers(options: Sequence[str]) -> list[float]:
    """The options as numbers; empty unless each has exactly one."""
    numbers = []
    for option in options:
        matches = list(_NUMBER.finditer(option))
        if len(matches) != 1:
            return []
        (match,) = matches
        without_comma = match[0].replace(",", "" if match["thousands"] else ".")
        numbers.append(float(without_comma.replace("−", "-")))
    return numbers


def _wording_features(exam: Exam) -> Callable[[Rows], Features]:
    """Features of the wording of each option, minus their mean over the question's options."""
    counts = Counter(content_words(option) for options in exam.options for option in options)

    def compute_features(rows: Rows) -> Features:
        features = np.zeros((*exam.is_offered[rows].shape, _N_WORDING_FEATURES), np.float32)
        for index, row in enumerate(rows):
            by_option = _option_wordings(exam.questions[row], counts)
            features[index, : len(by_option)] = by_option - by_option.mean(axis=0)
        return features

    return compute_features


def _option_wordings(question: Question, counts: Counter[tuple[str, ...]]) -> Features:
    """Hashed words and wording of each option; ``counts`` are those of options in the benchmark."""
    texts = [content_words(option) for option in question.options]
    in_question = set(question_words(question))
    features = np.zeros((len(texts), _N_WORDING_FEATURES), np.float32)
    for index, (text, option) in enumerate(zip(texts, question.options, strict=True)):
        words = set(text)
        for word in words:
            features[index, crc32(word.encode()) % _WORD_BUCKETS] += 1
        other_options = [set(other) for n, other in enumerate(texts) if n != index]
        overlaps = [len(words & other) / max(1, len(words | other)) for other in other_options]
        features[index, _WORD_BUCKETS:] = (
            len(words & in_question) / max(1, len(words)),
            sum(overlaps) / len(overlaps),
            bool(words & _NEGATIONS),
            bool(words & _ABSOLUTE_WORDS),
            option.strip()[-1:] in ".!?。",
            option.strip()[:1].isupper(),
            any(character.isdigit() for character in option),
            np.log1p(counts[text]),
        )
    return features
