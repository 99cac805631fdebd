"""Guessable keys: by letters, lengths, numbers or the order of rows."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.framework.significance import (
    GuessRate,
    binomial_tail,
    chance_levels,
    compare_with_chance,
)
from bench_assets.audit.framework.text_normalization import content_words, with_key_index
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.paired_tests import cluster_questions

Keyed: TypeAlias = Sequence[tuple[Question, int]]
Weigh: TypeAlias = Callable[[Question], Sequence[float]]  # weight of each option

GuessResults: TypeAlias = Sequence[tuple[str, GuessRate, Sequence[Suspect]]]  # name, rate, suspects

_LISTED = 20  # suspects per guess
_MIN_QUESTIONS = 12  # fewest questions of a category that is tested separately
_HALF = 0.5  # of the questions without options: a usual share of one answer
_NUMBER = re.compile(  # a comma before three digits separates thousands, unless 0 precedes it
    r"[-−]?(?:(?P<thousands>[1-9]\d{0,2}(?:,\d{3})+(?!,?\d)(?:\.\d+)?)|\d+(?:[.,]\d+)?)"
)


@audit_check("one_answer", "Is one letter, or one answer, right too often?")
def constant_answer_finding(evidence: Evidence) -> AuditFinding:
    """Test one letter and one text for all questions, and for all of a category."""
    questions = evidence.questions
    if not questions:
        raise SkippedCheckError("there are no questions")
    tried = [*_constant_options(questions), *_constant_texts(questions)]
    if not tried:
        raise SkippedCheckError("no answer occurs twice")
    return best_guess(tried, "the same answer everywhere")


@audit_check("lengths", "Is the longest or the shortest option right too often?")
def length_finding(evidence: Evidence) -> AuditFinding:
    """Test the longest and the shortest option."""
    return _option_finding(evidence, length_guesses())


def number_guesses() -> dict[str, Weigh]:
    """Guesses among options that are numbers."""
    return {
        "the largest number": _numbers,
        "the smallest number": lambda q: [-number for number in _numbers(q)],
        "the number in the middle": _centrality,
    }


def length_guesses() -> dict[str, Weigh]:
    """Guesses by the length of options."""
    return {
        "the longest option": lambda q: [len(option.strip()) for option in q.options],
        "the shortest option": lambda q: [-len(option.strip()) for option in q.options],
        "the option with most words": lambda q: [
            len(content_words(option)) for option in q.options
        ],
        "the option with fewest words": lambda q: [
            -len(content_words(option)) for option in q.options
        ],
    }


@audit_check("numbers", "Is the largest, smallest or middle number right too often?")
def number_finding(evidence: Evidence) -> AuditFinding:
    """Test the largest, smallest and middle number, if all options are numbers."""
    every = with_key_index(evidence.questions)
    keyed = [(one, key) for one, key in every if len(set(_numbers(one))) > 1]
    return _option_finding(evidence, number_guesses(), keyed, "no question has numbers for options")


@audit_check("row_order", "Does the order of the rows reveal the key?")
def row_order_finding(evidence: Evidence) -> AuditFinding:
    """Test patterns of the row order: every second A, B after A.

    The score of one letter for all questions is not attributed to the order.
    """
    keyed = [(one, key) for one, key in with_key_index(evidence.questions) if one.kind == "choice"]
    if len(keyed) < _MIN_QUESTIONS:
        raise SkippedCheckError(f"{len(keyed)} questions with letters")
    keys = [key for _, key in keyed]
    places = {f"the row's number modulo {k}": _row_remainders(len(keys), k) for k in (2, 3, 4, 5)}
    places["the key of the row before"] = [-1, *keys[:-1]]
    places["the keys of the two rows before"] = [-1, -1, *(a * 99 + b for a, b in pairwise(keys))][
        : len(keys)
    ]
    most = Counter(keys).most_common(1)[0][1] / len(keys)
    chances = chance_levels([len(one.options) for one, _ in keyed], most)
    tried = [
        (
            name,
            compare_with_chance(score_majority_guess(keys, rests), chances, tries=len(places)),
            (),
        )
        for name, rests in places.items()
    ]
    return best_guess(tried, "the order of the rows")


def best_guess(tried: GuessResults, what: str) -> AuditFinding:
    """Finding of several guesses: the best one, and those that give the key away."""
    name, best, _ = min(tried, key=lambda one: (one[1].p, one[1].chance - one[1].share, one[0]))
    suspects = [
        Suspect(label, f"{guess}", guess.share - guess.chance)
        for label, guess, _ in tried
        if guess.is_significant
    ]
    suspects += [one for _, guess, them in tried if guess.is_significant for one in them[:_LISTED]]
    verdict = "gives the key away" if suspects else "does not give the key away"
    return AuditFinding(
        sentence=f"{what[0].upper()}{what[1:]} {verdict}: best is {name}, {best}.",
        n=max(guess.n for _, guess, _ in tried),
        suspects=suspects,
    )


def option_guess(
    some: Keyed, weigh: Weigh, clusters: Mapping[str, str], tries: int = 1, luck: float = 0.0
) -> GuessRate:
    """Guess the option with the highest weight; ties are split.

    ``luck`` is the score of a simpler guess, if that is above chance.
    """
    hits = []
    for question, key in some:
        weights = list(weigh(question))
        best = max(weights)
        hits.append(1 / weights.count(best) if weights[key] == best else 0.0)
    return compare_with_chance(
        hits,
        chance_levels([len(one.options) for one, _ in some], luck),
        [clusters[one.question_id] for one, _ in some] if clusters else (),
        tries,
    )


def _option_finding(
    evidence: Evidence,
    guesses: Mapping[str, Weigh],
    keyed: Keyed | None = None,
    none: str = "no question has options",
) -> AuditFinding:
    chosen = with_key_index(evidence.questions) if keyed is None else keyed
    if not chosen:
        raise SkippedCheckError(none)
    parts = split_by_category(chosen)
    clusters = cluster_questions([one for one, _ in chosen])
    tries = len(guesses) * len(parts)
    tried = [
        (f"{name}{part}", option_guess(keyed, weigh, clusters, tries, chance), ())
        for part, keyed in parts.items()
        for chance in [_best_letter(keyed)]
        for name, weigh in guesses.items()
    ]
    return best_guess(tried, "a look at the options")


def split_by_category(some: Keyed) -> dict[str, Keyed]:
    """All questions, and those of each large category, with a name for messages."""
    parts: dict[str, list[tuple[Question, int]]] = defaultdict(list)
    for one, key in some:
        parts[f" in {one.category}"].append((one, key))
    large = {name: part for name, part in parts.items() if len(part) >= _MIN_QUESTIONS}
    return {"": some, **(large if len(parts) > 1 else {})}


def _constant_options(questions: Sequence[Question]) -> GuessResults:
    lettered = [(one, key) for one, key in with_key_index(questions) if one.kind == "choice"]
    if not lettered:
        return []
    parts = split_by_category(lettered)
    clusters = cluster_questions([one for one, _ in lettered])
    most = max(len(one.options) for one, _ in lettered)
    return [
        (f"always {chr(ord('A') + n)}{part}", _constant(keyed, n, clusters, most * len(parts)), ())
        for part, keyed in parts.items()
        for n in range(most)
    ]


def _constant(keyed: Keyed, letter: int, clusters: Mapping[str, str], tries: int) -> GuessRate:
    def weigh(question: Question) -> list[float]:
        return [float(n == letter) for n in range(len(question.options))]

    fitting = [(one, key) for one, key in keyed if letter < len(one.options)]
    return option_guess(fitting, weigh, clusters, tries)


def _constant_texts(questions: Sequence[Question]) -> GuessResults:
    """Test constant texts: common answers such as yes and no may be frequent, but not dominate."""
    tried: list[tuple[str, GuessRate, Sequence[Suspect]]] = []
    for kind in ("text", "blanks", "choices"):
        chosen = [one for one in questions if one.kind == kind]
        counts = Counter(answer for one in chosen for answer in _answers(one))
        if len(chosen) < _MIN_QUESTIONS or not counts:
            continue
        answer, n = max(counts.items(), key=lambda one: (one[1], one[0]))
        hits = [answer in _answers(one) for one in chosen]
        offered = [len(one.options) or max(2, len(counts)) for one in chosen]
        chance = sum(chance_levels(offered)) / len(chosen)
        p = binomial_tail(n, len(chosen), max(chance, _HALF))
        rate = GuessRate(n, len(chosen), chance, p, *_bounds(hits), usual=_HALF)
        tried.append((f'always "{answer}", of {kind}', rate, ()))
    return tried


def _best_letter(keyed: Keyed) -> float:
    """Score of the best constant letter; 0 without letters."""
    counts = Counter(key for one, key in keyed if one.kind == "choice")
    return max(counts.values(), default=0) / len(keyed)


def _bounds(hits: Sequence[bool]) -> tuple[float, float]:
    rate = compare_with_chance([float(one) for one in hits], [_HALF] * len(hits))
    return rate.low, rate.high


def _answers(question: Question) -> set[str]:
    """Distinct answers; several blanks or letters are one answer."""
    if question.kind == "text":
        return {" ".join(content_words(one)) for one in question.answer}
    return {" | ".join(" ".join(content_words(one)) for one in question.answer)}


def _numbers(question: Question) -> list[float]:
    """The options as numbers; empty unless each has exactly one."""
    found = [list(_NUMBER.finditer(option)) for option in question.options]
    if not found or any(len(one) != 1 for one in found):
        return []
    return [
        float(one[0].replace("−", "-").replace(",", "" if one["thousands"] else "."))
        for (one,) in found
    ]


def _centrality(question: Question) -> list[float]:
    every = sorted(_numbers(question))
    if not every:
        return []
    middle = (every[(len(every) - 1) // 2] + every[len(every) // 2]) / 2
    return [-abs(number - middle) for number in _numbers(question)]


def _row_remainders(n: int, modulus: int) -> list[int]:
    return [row % modulus for row in range(n)]


def score_majority_guess(
    keys: Sequence[int], known: Sequence[int], clusters: Sequence[str] = ()
) -> list[float]:
    """Score a guess of each key: the most frequent one of other rows with the same ``known``.

    Other rows are those of other ``clusters``; (): all but the row itself. Ties are split.
    """
    names = clusters or list(map(str, range(len(keys))))
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    own: dict[tuple[int, str], Counter[int]] = defaultdict(Counter)
    for key, value, name in zip(keys, known, names, strict=True):
        counts[value][key] += 1
        own[value, name][key] += 1
    times = {value: Counter(of.values()) for value, of in counts.items()}
    best = {at: _most_frequent(counts[at[0]], times[at[0]], of) for at, of in own.items()}
    hits = []
    for key, value, name in zip(keys, known, names, strict=True):
        most, n_best = best[value, name]
        others = counts[value][key] - own[value, name][key]
        hits.append(1 / n_best if others == most and most else 0.0)
    return hits


def _most_frequent(counts: Counter[int], times: Counter[int], own: Counter[int]) -> tuple[int, int]:
    """Count of the most frequent keys without a cluster's ``own``, and their number.

    ``times`` is the number of keys by their count, which saves a pass over all keys.
    """
    left = Counter(times)
    left.subtract(counts[key] for key in own)
    left.update(counts[key] - n for key, n in own.items())
    most = max((count for count, n in left.items() if n), default=0)
    return most, left[most]
