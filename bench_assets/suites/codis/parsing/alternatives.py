"""Which of two possible answers a line names: "up" or "down", "the man" or "the woman".

A line names an answer if it has the words that distinguish it from the other answer, or synonyms
of them (``opposites.txt``), and none of the words that distinguish the other one.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from bench_assets.core.parsing.sentences import affirmed, n_denials
from bench_assets.core.tables.large_tables import BLOCK
from bench_assets.suites.codis.parsing.words import (
    is_among,
    normalised,
    opposite_of,
    phrase_in,
    same_as,
    statements,
    stem,
    stems,
    without_figures,
)

_OFFERED = re.compile(r"((?:[\w'-]+, )+(?:[\w'-]+,? )?)or ([\w'-]+)")
_LEAST_SHARE = 0.5
# Two answers may differ in these words, but a response may use them whichever answer it means.
_FUNCTION_WORDS = frozenset(
    word
    for words in (
        "is are am be been being was were do does did has have had will would can going",
        "i you he she it we they me him her us them my your his its our their s",
        "of to at by from in on into onto for with and or not no only that this there one",
        "just about already probably likely say saying says said",
    )
    for word in words.split()
)
_PLACES = frozenset({"in", "on", "into", "onto", "from", "to", "not", "no"})
_ALONE = frozenset({"in", "on"})


def named_alternative(question: str, line: str, options: Sequence[str]) -> str | None:
    """Find the one possible answer that a line commits to, or None."""
    found, words = _alternative(line, tuple(options))
    return None if words and _names_a_third(question, words, options) else found


@lru_cache(BLOCK)  # a response is compared with the same two answers in each context
def _alternative(line: str, options: Sequence[str]) -> tuple[str | None, str]:
    """The answer that a line commits to, and the line's words; "" if it is exactly an answer."""
    told = [without_figures(clause, options) for clause in statements(line)]
    whole = [" ".join(sorted(statements(option))) for option in options]
    if " ".join(sorted(told)) in whole and len(set(whole)) == len(whole):
        return options[whole.index(" ".join(sorted(told)))], ""
    if not any(n_denials(normalised(option)) for option in options):
        told = [affirmed(clause) for clause in told]
    words = " ".join(clause for clause in told if clause)
    shares = {o: _share_named(words, o, [p for p in options if p != o]) for o in options}
    named = [option for option, share in shares.items() if share > 0]
    is_clear = len(named) == 1 and shares[named[0]] >= _LEAST_SHARE
    return named[0] if is_clear else None, words


def _names_a_third(question: str, words: str, options: Sequence[str]) -> bool:
    """Whether a line names a third thing that the question offers: "north" for east or west."""
    offered = _offered(question)
    if not offered:
        return False
    known = {each for o in options for word in normalised(o).split() for each in same_as(word)}
    said = stems(words)
    return any(is_among(said, same_as(word)) for word in offered if stem(word) not in known)


@lru_cache(BLOCK)
def _offered(question: str) -> frozenset[str]:
    """Words of the alternatives that a question offers, if they have an opposite."""
    found = (f"{found[1]} {found[2]}" for found in _OFFERED.finditer(question.casefold()))
    return frozenset(w for phrase in found for w in re.findall(r"\w+", phrase) if opposite_of(w))


def _share_named(words: str, option: str, others: Sequence[str]) -> float:
    """Share of an answer's distinguishing words that a line has, in [0, 1]."""
    phrase, phrases = normalised(option), [normalised(other) for other in others]
    if _is_part(words, phrase, phrases):
        return 1.0
    elsewhere = {stem(word) for other in phrases for word in other.split()}
    apart = [word for word in phrase.split() if stem(word) not in elsewhere]
    marks = [word for word in apart if word not in _FUNCTION_WORDS]
    said = stems(words)
    if marks:
        return sum(is_among(said, _says(word, elsewhere)) for word in marks) / len(marks)
    if apart:
        held = _holds_all(said, phrase) and _is_clear(said, apart)
        return float(held or phrase_in(phrase, words))
    return _in_order(words, phrase, phrases)


def _says(word: str, elsewhere: set[str]) -> frozenset[str]:
    """Synonyms of one answer's words, without its opposite and the other answers' words."""
    return same_as(word) - opposite_of(word) - elsewhere


def _is_part(words: str, phrase: str, others: Sequence[str]) -> bool:
    """Whether a line is a part of one answer only, as "right to left" of "from right to left"."""
    if not words or not phrase_in(words, phrase) or any(phrase_in(words, o) for o in others):
        return False
    said = set(words.split())
    return not said <= _FUNCTION_WORDS or bool(said & _ALONE and len(said) == 1)


def _holds_all(said: frozenset[str], phrase: str) -> bool:
    words = [word for word in phrase.split() if word not in _FUNCTION_WORDS - _PLACES]
    return bool(words) and all(is_among(said, same_as(word)) for word in words)


def _is_clear(said: frozenset[str], apart: Sequence[str]) -> bool:
    return not any(is_among(said, opposite_of(word)) for word in apart)


def _in_order(words: str, phrase: str, others: Sequence[str]) -> float:
    """As ``_share_named``, for answers that contain each other or differ in word order only."""
    longer = [other for other in others if set(phrase.split()) < set(other.split())]
    if longer and len(phrase.split()) > 1:
        if any(phrase_in(phrase, words.replace(other, " ")) for other in longer):
            return 1.0
        marks = {stem(w) for other in longer for w in other.split()} - set(
            map(stem, phrase.split())
        )
        return float(_holds_all(stems(words), phrase) and not is_among(stems(words), marks))
    for other in others:
        # "not appropriate" does not say "appropriate".
        words = words.replace(other, " ") if phrase_in(phrase, other) else words
    return float(phrase_in(phrase, words))
